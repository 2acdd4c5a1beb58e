"""profile_step.py PROFILE: the time of a step is the sum of its programs: denominators, micro and apply."""
import json
import sys
from math import isclose

with open(sys.argv[1]) as f:
    profile = json.load(f)["profile"]
times = {row["name"]: row["us"] for row in profile["programs"]}
assert times["denominators"] > 0, times
whole = times["denominators"] + times["micro"] + times["apply"]
assert isclose(profile["steps"] * profile["step_us"], whole, rel_tol=1e-6), (profile["step_us"], times)
