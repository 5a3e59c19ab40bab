# SPDX-License-Identifier: MIT
"""The questions of pitrace-fleet as data frames, on Dask: the same tables, on as many workers as there are.

    python3 fleet_dask.py top --by service --where kernel=6.12* /srv/fleet                  workers on this machine
    python3 fleet_dask.py diff --at '2026-11-24 10:00' --scheduler tcp://HOST:8786 /srv/fleet

Prints JSON. Each worker reads the files of some traces and sums them up, so that little is sent; the sums of a worker that
ends are computed again by another one. Needs dask, distributed, pandas and pyarrow. Each step has a counterpart in Spark.
"""
import argparse
import fnmatch
import glob
import json

import dask.dataframe
import pandas
import pyarrow.parquet
from dask.distributed import Client, LocalCluster

KEYS = ["host", "kernel", "service", "cgroup", "process", "thread", "module", "function", "build"]
COLUMNS = ["time", "trace", "host", "kernel", "kind", "process", "thread", "cgroup", "service", "module", "build_id", "function", "address", "count"]
PATH_COLUMNS = ["time", "trace", "host", "kernel", "kind", "process", "thread", "cgroup", "service", "stack", "count"]
FRAME_COLUMNS = ["frame", "module", "build_id", "function", "address", "mode", "guessed"]


def read(path, columns):
    # Not as a part of a folder: the names of folders would be further columns.
    return pyarrow.parquet.ParquetFile(path).read(columns=columns).to_pandas()


def named(frame, root):
    """Functions without a symbol get the name that pitrace-fleet resolve has found, or that of their file and address."""
    bare = frame["function"] == ""
    if bare.any():
        files = frame["module"].fillna("").str.replace(".*/", "", regex=True).replace("[vdso]", "vdso")
        places = frame["address"].map(lambda address: "" if pandas.isna(address) else format(int(address), "x"))
        frame["function"] = frame["function"].mask(bare, "[" + files + "+0x" + places + "]")
    try:
        names = read(root + "/names.parquet", ["build_id", "address", "function"]).rename(columns={"function": "late"})
    except FileNotFoundError:
        return frame
    names = names.groupby(["build_id", "address"], as_index=False)["late"].min()
    frame["address"] = frame["address"].astype("Int64")
    names["address"] = names["address"].astype("Int64")
    frame = frame.merge(names, on=["build_id", "address"], how="left")
    frame["function"] = frame["late"].fillna(frame["function"])
    return frame.drop(columns="late")


def root_of(path):
    return path.rsplit("/records/", 1)[0]


def read_records(path):
    return named(read(path, COLUMNS), root_of(path))


def read_paths(path):
    """The rows of a trace with the call path of each stack, as folded stacks have it, and its innermost function."""
    of = lambda table: "/{}/".format(table).join(path.rsplit("/records/", 1))
    frames = named(read(of("frames"), FRAME_COLUMNS), root_of(path))
    modules = "[" + frames["module"].str.replace(".*/", "", regex=True) + "]"
    names = frames["function"].fillna(modules).fillna("[unknown]").str.replace(";", "\\x3b", regex=False)
    suffixes = frames["guessed"].map({1: "_[g]"}).fillna("").mask(frames["mode"] == "kernel", "_[k]")
    frames["name"] = names + suffixes
    stacks = read(of("stacks"), ["stack", "up", "frame"]).merge(frames, on="frame", how="left").sort_values("stack")
    paths = {}
    for stack, up, name in zip(stacks["stack"], stacks["up"], stacks["name"]):
        paths[stack] = name if up == 0 else paths[stack - up] + ";" + name
    stacks["path"] = stacks["stack"].map(paths)
    return read(of("paths"), PATH_COLUMNS).merge(stacks[["stack", "path", "module", "build_id", "function"]], on="stack", how="left")


def matches(column, value):
    if "*" not in value:
        return column == value
    pattern = "".join("*" if char == "*" else "[" + char + "]" if char in "?[" else char for char in value)
    return column.str.match(fnmatch.translate(pattern)).fillna(False).astype(bool)


def test(frame, key, value, builds):
    if key == "build":
        ran = builds[builds["build_id"].str.startswith(value).fillna(False).astype(bool)]["process"].unique()
        return frame["process"].isin(ran)
    if key == "module" and "/" not in value:
        return matches(frame["module"], value) | matches(frame["module"], "*/" + value)
    return matches(frame[key], value)


def selected(frame, words, builds):
    """The rows of one trace to which all conditions apply. Losses have a host and a kernel only. builds: the rows of its records."""
    taken = pandas.Series(True, index=frame.index)
    tests = {}
    for key, value in (part.split("=", 1) for word in words for part in word.split(",")):
        tests[key] = tests.get(key, False) | test(frame, key, value, builds)
    for key, passed in tests.items():
        taken &= passed if key in ("host", "kernel") else passed | (frame["kind"] == "lost")
    return taken


def within(frame, since, until):
    taken = pandas.Series(True, index=frame.index)
    if since is not None:
        taken &= frame["time"] >= since
    if until is not None:
        taken &= frame["time"] < until
    return taken


def sides_of(frame, builds, given):
    """The rows of side A, and for diff of side B, with a column side."""
    chosen = selected(frame, given.where, builds) & within(frame, given.since, given.until)
    if given.question != "diff":
        return frame[chosen].assign(side="A")
    # Of all rows: a build is that of a process, whichever of its rows are chosen.
    a, b = selected(frame, given.a, builds), selected(frame, given.b, builds)
    if given.at is None and not given.b:
        b = ~a
    elif given.at is None and not given.a:
        a = ~b
    a, b = chosen & a & within(frame, None, given.at), chosen & b & within(frame, given.at, None)
    return pandas.concat([frame[a].assign(side="A"), frame[b & ~(a & (frame["kind"] == "lost"))].assign(side="B")])


def sums_of(paths, given, keys):
    """A worker's part: the sums of some traces."""
    parts = []
    for path in paths:
        paths_wanted = given.question == "flame"
        frame = read_paths(path) if paths_wanted else read_records(path)
        # A rare path does not say which files it was in.
        builds = read(path, ["process", "build_id"]) if paths_wanted else frame
        frame = sides_of(frame, builds, given)
        frame = frame.rename(columns={"build_id": "build"})
        parts.append(frame[keys + ["count"]].fillna("").groupby(keys, as_index=False, observed=True)["count"].sum())
    return pandas.concat(parts).groupby(keys, as_index=False)["count"].sum()


def summed(given, keys):
    """The sums of all traces."""
    files = sorted(glob.glob(f"{glob.escape(given.folder)}/records/*/*/*.parquet"))
    if not files:
        raise SystemExit(f"{given.folder} is no folder of post --fleet.")
    parts = [files[at : at + given.files] for at in range(0, len(files), given.files)]
    meta = pandas.DataFrame({key: pandas.Series(dtype="object") for key in keys} | {"count": pandas.Series(dtype="int64")})
    frame = dask.dataframe.from_map(sums_of, parts, given=given, keys=keys, meta=meta)
    return frame.groupby(keys)["count"].sum().reset_index().compute()


def table_of(ticks, by):
    """Rows of one level: ticks and hosts of each name."""
    keys = ["name", "module"] if by in ("function", "build") else ["name"]
    rows = ticks.rename(columns={by: "name"}).groupby(keys, as_index=False).agg(ticks=("count", "sum"), hosts=("of_host", "nunique"))
    return rows.sort_values(["ticks"] + keys, ascending=[False] + [True] * len(keys)).to_dict("records")


def top(given):
    levels = ["host", "kernel", "service", "process", "module", "function"] if given.question == "report" else [given.by]
    # Twice, as a level may be the host.
    keys = list(dict.fromkeys(["kind", "host", "kernel"] + levels + (["module"] if {"function", "build"} & set(levels) else [])))
    sums = summed(given, keys)
    ticks = sums[sums["kind"] == "tick"].assign(of_host=lambda rows: rows["host"])
    lost = sums[sums["kind"] == "lost"]["count"].sum()
    facts = {"hosts": ticks["host"].nunique(), "kernels": ticks["kernel"].nunique()}
    return facts | {"ticks": int(ticks["count"].sum()), "lost": int(lost), "by": {level: table_of(ticks, level) for level in levels}}


def flame(given):
    sums = summed(given, ["kind", "process", "path"])
    ticks = sums[sums["kind"] == "tick"].sort_values(["process", "path"])
    return [{"process": row.process, "path": row.path, "ticks": int(row.count_)} for row in ticks.rename(columns={"count": "count_"}).itertuples()]


def diff(given):
    """Ticks in A and B and the change of the share, in points. What is beyond chance, pitrace-fleet says."""
    sums = summed(given, ["kind", "side", "host", "process", "module", "function"])
    ticks = sums[sums["kind"] == "tick"]
    answer = {}
    whole = {}
    for side in ("A", "B"):
        rows = ticks[ticks["side"] == side]
        whole[side] = int(rows["count"].sum())
        if whole[side] == 0:
            raise SystemExit(f"no tick of {side} is selected; there is nothing to compare.")
        answer[side.lower()] = {"ticks": whole[side], "hosts": rows["host"].nunique()}
    for level, keys in (("process", ["process"]), ("module", ["module"]), ("function", ["function", "module"])):
        rows = ticks.pivot_table(index=keys, columns="side", values="count", aggfunc="sum", fill_value=0).reindex(columns=["A", "B"], fill_value=0)
        answer[level] = []
        for names, (a, b) in zip(rows.index, rows.itertuples(index=False)):
            names = names if isinstance(names, tuple) else (names,)
            row = {"name": names[0], "a": int(a), "b": int(b), "change": 100 * (b / whole["B"] - a / whole["A"])}
            answer[level].append(row | ({"module": names[1]} if len(names) > 1 else {}))
    return answer


def condition(word):
    for part in word.split(","):
        key, _, value = part.partition("=")
        if key not in KEYS or not value:
            raise argparse.ArgumentTypeError(f"'{part}' is no condition: write KEY=VALUE, where KEY is one of {', '.join(KEYS)}.")
    return word


def time(text):
    return pandas.Timestamp(text, tz="UTC")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=["report", "top", "diff", "flame"])
    parser.add_argument("folder", help="of post --fleet; each worker must have it at the same path")
    parser.add_argument("--by", default="function", choices=KEYS, help="what a row of top is")
    for name in ("where", "a", "b"):
        parser.add_argument("--" + name, type=condition, action="append", default=[], metavar="KEY=VALUE", help="as for pitrace-fleet")
    for name in ("since", "until", "at"):
        parser.add_argument("--" + name, type=time, metavar="TIME", help="2026-11-24 10:30, UTC")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster; none: workers on this machine")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="on this machine")
    parser.add_argument("--files", type=int, default=100, metavar="N", help="traces that a worker reads at once")
    given = parser.parse_args()
    cluster = given.scheduler or LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=None)
    with Client(cluster):
        answer = {"report": top, "top": top, "diff": diff, "flame": flame}[given.question](given)
    print(json.dumps(answer, default=int, indent=1))


if __name__ == "__main__":
    main()
