#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speedscope_rules.py FILE: holds a file against the rules of speedscope's schema for sampled profiles; prints its
stacks, folded, with their weights."""
import json
import sys

UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def need(value, kind, what):
    # bool is an int in Python, and no number in JSON
    if not isinstance(value, kind) or isinstance(value, bool):
        sys.exit(f"{what}: {value!r} is no {kind}")
    return value


def keys(value, required, optional, what):
    need(value, dict, what)
    if not required <= value.keys() or not value.keys() <= required | optional:
        sys.exit(f"{what}: keys {sorted(value)}")


def check_frame(frame, what):
    keys(frame, {"name"}, {"file", "line", "col"}, what)
    need(frame["name"], str, what)
    need(frame.get("file", ""), str, what)
    for number in "line", "col":
        if need(frame.get(number, 1), int, what) < 1:
            sys.exit(f"{what}: {number} is below 1")


def check_profile(profile, frames):
    keys(profile, {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}, set(), "profile")
    if profile["type"] != "sampled" or profile["unit"] not in UNITS:
        sys.exit(f"profile: type {profile['type']}, unit {profile['unit']}")
    need(profile["name"], str, "name")
    samples, weights = need(profile["samples"], list, "samples"), need(profile["weights"], list, "weights")
    if len(samples) != len(weights):
        sys.exit(f"{len(samples)} samples and {len(weights)} weights")
    total = 0
    for stack, weight in zip(samples, weights):
        for index in need(stack, list, "stack"):
            if not 0 <= need(index, int, "index") < frames:
                sys.exit(f"no frame {index}")
        total += need(weight, int, "weight")
    if profile["startValue"] != 0 or profile["endValue"] != total:
        sys.exit(f"from {profile['startValue']} to {profile['endValue']}, weights are {total}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    keys(data, {"$schema", "profiles", "shared"}, {"name", "activeProfileIndex", "exporter"}, "file")
    if data["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        sys.exit(f"$schema: {data['$schema']}")
    keys(data["shared"], {"frames"}, set(), "shared")
    frames = need(data["shared"]["frames"], list, "frames")
    for i, frame in enumerate(frames):
        check_frame(frame, f"frame {i}")
    texts = [json.dumps(f, sort_keys=True) for f in frames]
    if len(set(texts)) != len(texts):
        sys.exit("a frame is there twice")
    if not 0 <= data.get("activeProfileIndex", 0) < len(need(data["profiles"], list, "profiles")):
        sys.exit("activeProfileIndex")
    for profile in data["profiles"]:
        check_profile(profile, len(frames))
        for stack, weight in zip(profile["samples"], profile["weights"]):
            print(";".join(f"{frames[i]['name']}@{frames[i].get('line', '')}" for i in stack), weight)


main()
