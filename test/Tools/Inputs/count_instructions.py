"""count_instructions.py SOURCE: compares counts of test/bench/roofline with kernels that were counted by hand."""
import sys

sys.path.insert(0, sys.argv[1] + "/test/bench/roofline")

import ptx  # noqa: E402
import sass  # noqa: E402
import threads  # noqa: E402


def equal(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: expects {expected}, but got {got}")


# Thread x adds 5 + x mod 2 numbers of 4 bytes, 32 apart; threads above 40 leave at once.
PTX = """
.entry k_sum(
\t.param .u64 .ptr .global .align 1 k_sum_param_0,
\t.param .u64 .ptr .global .align 1 k_sum_param_1
)
.maxntid 64, 1, 1
{
\t.reg .pred \t%p<4>;
\tmov.u32 \t%r1, %tid.x;
\tsetp.gt.u32 \t%p1, %r1, 40;
\t@%p1 bra \t$L_end;
\tld.param.b64 \t%rd1, [k_sum_param_0];
\tld.param.b64 \t%rd2, [k_sum_param_1];
\tmul.wide.u32 \t%rd3, %r1, 4;
\tadd.s64 \t%rd4, %rd1, %rd3;
\tadd.s64 \t%rd5, %rd2, %rd3;
\tand.b32 \t%r2, %r1, 1;
\tadd.s32 \t%r3, %r2, 5;
\tmov.b32 \t%r4, 0;
$L_loop:
\tld.global.b32 \t%f1, [%rd4];
\tadd.rn.f32 \t%f2, %f2, %f1;
\tadd.s64 \t%rd4, %rd4, 128;
\tadd.s32 \t%r4, %r4, 1;
\tsetp.lt.u32 \t%p2, %r4, %r3;
\t@%p2 bra \t$L_loop;
\tst.global.b32 \t[%rd5], %f2;
$L_end:
\tret;
}
"""
issued, loads = ptx.count(ptx.kernels(PTX)["k_sum"], [64, 1])
# Warp 0: 3 + 8 before the loop, 6 x 6 in it, 1 + 1 behind. Warp 1 has threads 32 to 40, which do the same.
equal("instructions of a loop in PTX", issued, 2 * (3 + 8 + 36 + 2))
# 21 threads with an even number read 5 numbers, 20 read 6.
equal("bytes that a loop loads", loads, {0: 4 * (21 * 5 + 20 * 6)})

# The same loop with a counter of 64 bits, and a call that only a slow path makes.
SASS = """
\t.section\t.text.k_sum,"ax",@progbits
k_sum:
.text.k_sum:
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   ISETP.GT.U32.AND P0, PT, R0, 0x28, PT ;
        /*0020*/               @P0 EXIT ;
        /*0030*/                   LOP3.LUT R2, R0, 0x1, RZ, 0xc0, !PT ;
        /*0040*/                   HFMA2.MMA R4, -RZ, RZ, 0, 9.5367431640625e-07 ;
        /*0050*/                   VIADD R2, R2, 0x5 ;
        /*0060*/                   IADD3 R4, P1, R4, -0x10, RZ ;
        /*0070*/                   IADD3.X R5, RZ, -0x1, RZ, P1, !PT ;
.L_x_1:
        /*0080*/                   LDG.E R6, desc[UR6][R8.64] ;
        /*0090*/                   IADD3 R4, P1, R4.reuse, 0x1, RZ ;
        /*00a0*/                   FADD R7, R7, R6 ;
        /*00b0*/                   IMAD.X R5, RZ, RZ, R5, P1 ;
        /*00c0*/                   ISETP.GE.U32.AND P1, PT, R4, R2, PT ;
        /*00d0*/                   ISETP.GE.U32.AND.EX P1, PT, R5, RZ, PT, P1 ;
        /*00e0*/              @!P1 BRA `(.L_x_1) ;
        /*00f0*/                   FCHK P0, R7, R3 ;
        /*0100*/              @!P0 BRA `(.L_x_2) ;
        /*0110*/                   CALL.REL.NOINC `($__internal_0_$__slowpath) ;
.L_x_2:
        /*0120*/                   STG.E desc[UR6][R10.64], R7 ;
        /*0130*/                   EXIT ;
.L_x_3:
        /*0140*/                   BRA `(.L_x_3);
        /*0150*/                   NOP;
"""
# 3 + 5 before the loop, 6 x 7 in it, 2 + 2 behind.
equal("instructions of a loop in SASS", sass.count(sass.kernels(SASS)["k_sum"], [64, 1]), 2 * (3 + 5 + 42 + 4))

try:
    ptx.count(PTX.replace("mov.b32 \t%r4, 0", "ld.global.b32 \t%r4, [%rd4]").split("k_sum", 1)[1], [64, 1])
    sys.exit("expects no count of a loop whose length is loaded")
except threads.Unknown:
    pass

# Data decides between two ways; the longer one counts.
CHOICE = """
	.section	.text.k_choice,"ax",@progbits
        /*0000*/                   LDG.E R2, desc[UR6][R4.64] ;
        /*0010*/                   ISETP.NE.AND P0, PT, R2, RZ, PT ;
        /*0020*/               @P0 BRA `(.L_x_1) ;
        /*0030*/                   FADD R7, R7, R6 ;
        /*0040*/                   BRA `(.L_x_2) ;
.L_x_1:
        /*0050*/                   FMUL R7, R7, R6 ;
        /*0060*/                   FMUL R7, R7, R6 ;
        /*0070*/                   FMUL R7, R7, R6 ;
.L_x_2:
        /*0080*/                   STG.E desc[UR6][R4.64], R7 ;
        /*0090*/                   EXIT ;
"""
equal("instructions where data decides", sass.count(sass.kernels(CHOICE)["k_choice"], [32, 1]), 3 + 3 + 2)
