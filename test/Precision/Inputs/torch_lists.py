"""torch_lists.py LISTS TABLE: cast policies against PyTorch's registrations.

LISTS has lines `list policy name`; TABLE is the output of `weft help-markdown
casts`. For both lists: an op that follows has no registered name; any other op
has a registered name, and each of its registered names has the op's policy. A
registered name that is an op of the table stands in that op's row. Prints each
difference and ends with 1 if there is any.
"""
import re
import sys

POLICIES = {"lower_precision_fp": "lower", "fp32": "f32", "fp32_set_opt_dtype": "f32-set-dtype",
            "fp32_append_dtype": "f32-append-dtype", "promote": "promote", "banned": "banned"}


def read_lists(path):
    """{list: {name without overload: policy}}"""
    lists = {}
    with open(path) as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            which, policy, name = line.split()
            base = name.split(".")[0]
            known = lists.setdefault(which, {}).setdefault(base, POLICIES[policy])
            assert known == POLICIES[policy], f"two policies for {base}"
    return lists


def read_table(path):
    """[(op, {list: policy}, PyTorch's names)]"""
    rows = []
    with open(path) as f:
        for line in f:
            match = re.match(r"\| `([^`]+)` \|(.*)\|$", line.rstrip())
            if match:
                cells = [cell.strip() for cell in match[2].split("|")]
                rows.append((match[1], {"cuda": cells[0], "cpu": cells[1]}, cells[-1].split()))
    return rows


def differences(lists, rows):
    for which, registered in lists.items():
        for op, policies, names in rows:
            policy = policies[which]
            found = {name: registered[name] for name in names if name in registered}
            if policy != "follow" and not found:
                yield f"{which}: {op} is {policy}, but PyTorch registers none of: {' '.join(names)}"
            for name, expected in found.items():
                if policy != expected:
                    yield f"{which}: {op} is {policy}, but PyTorch's {name} is {expected}"
        claimed = {name for _, _, names in rows for name in names}
        for op, _, _ in rows:
            if op in registered and op not in claimed:
                yield f"{which}: PyTorch registers {op}, but no op has that name in the table"


def main(lists, table):
    lists, rows = read_lists(lists), read_table(table)
    wrong = list(differences(lists, rows))
    print("\n".join(wrong + [f"{len(rows)} ops, {sum(map(len, lists.values()))} names, "
                             f"{len(wrong)} differences"]))
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
