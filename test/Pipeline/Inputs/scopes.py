"""scopes.py IN OUT: the MLP with one scope written and one result that is a number."""
import sys


def main(source, target):
    with open(source) as f:
        text = f.read()
    relu = "%h1 = weft.relu %a1 :"
    assert relu in text and "%scores = weft.add" in text
    text = text.replace(relu, '%h1 = weft.relu %a1 {weft.scope = "first"} :')
    head = "    %loss, %lse, %denom = weft.cross_entropy %scores"
    assert head in text
    twice = "    %0 = weft.add %scores, %scores : tensor<32x10xf32>, tensor<32x10xf32>\n"
    half = "    %1 = weft.mul %0, %0 : tensor<32x10xf32>, tensor<32x10xf32>\n"
    text = text.replace(head, twice + half + head.replace("%scores", "%1"))
    with open(target, "w") as f:
        f.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
