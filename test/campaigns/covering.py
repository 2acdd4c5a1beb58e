"""Few combinations of options in which all pairs (triples, ...) of their values occur.

Options are {name: [values]}; a combination is {name: value}. Combinations are made one
after the other: each begins with values that are still missing together, and every
other option takes the value that adds the most of what is missing (AETG; Cohen, Dalal,
Fredman, Patton 1997). The same seed makes the same ones.
"""
import itertools
import random

CANDIDATES = 20


def groups_of(options, strength):
    """All sets of `strength` values of different options."""
    for names in itertools.combinations(options, strength):
        for values in itertools.product(*(options[name] for name in names)):
            yield frozenset(zip(names, values))


def groups_in(combination, strength):
    return map(frozenset, itertools.combinations(combination.items(), strength))


def gain(chosen, item, missing, strength):
    """How many missing sets the item completes."""
    return sum(frozenset((item, *others)) in missing
               for others in itertools.combinations(chosen.items(), strength - 1))


def candidate(options, missing, strength, dice):
    chosen = dict(dice.choice(missing.order))
    others = [name for name in options if name not in chosen]
    for name in dice.sample(others, len(others)):
        gains = {value: gain(chosen, (name, value), missing, strength) for value in options[name]}
        best = max(gains.values())
        chosen[name] = dice.choice([value for value in options[name] if gains[value] == best])
    return {name: chosen[name] for name in options}


class Missing:
    """Sets of values that no combination has, with an order to choose from."""

    def __init__(self, groups):
        self.order = list(groups)
        self.found = set(self.order)

    def __contains__(self, group):
        return group in self.found

    def count(self, combination, strength):
        return sum(group in self.found for group in groups_in(combination, strength))

    def remove(self, combination, strength):
        self.found.difference_update(groups_in(combination, strength))
        self.order = [group for group in self.order if group in self.found]


def attempt(options, strength, dice):
    missing, result = Missing(groups_of(options, strength)), []
    while missing.order:
        candidates = [candidate(options, missing, strength, dice) for _ in range(CANDIDATES)]
        result.append(max(candidates, key=lambda each: missing.count(each, strength)))
        missing.remove(result[-1], strength)
    return result


def cover(options, strength, seed, attempts):
    """The fewest combinations of some attempts."""
    found = (attempt(options, strength, random.Random(f"{seed} {number}")) for number in range(attempts))
    return min(found, key=len)
