# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# The part of the module `vinci` that is written in Python: it runs in the module when that is imported. docs/c-api.md
import typing as _typing


class Group:
    """A group of keys of a chip: `chip.core.cube.startup`, or `chip.core["cube"]`.

    Sizes are bytes, rates bytes a cycle or a second, times seconds or cycles, frequencies Hz. It cannot be changed: see
    Chip.changed(). Cost lines of instructions are items: `chip.core.instructions["vexp.f16"].per_step`.
    """

    def __init__(self, values: dict, path: str = "chip") -> None:
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_path", path)

    def __getitem__(self, key: str) -> _typing.Any:
        value = self._values[key]
        return Group(value, f"{self._path}.{key}") if isinstance(value, dict) else value

    def __getattr__(self, key: str) -> _typing.Any:
        if key in self._values:
            return self[key]
        import difflib
        near = difflib.get_close_matches(key, self._values, 1)
        raise AttributeError(f"{self._path} has no key '{key}'" + (f"; did you mean '{near[0]}'?" if near else ""))

    def __setattr__(self, key: str, value: _typing.Any) -> None:
        raise AttributeError(f"{self._path}.{key} cannot be set: chip.changed({{...}}) makes another chip")

    def __iter__(self) -> _typing.Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __dir__(self) -> list:
        return sorted([*object.__dir__(self), *self._values])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self._values == other._values

    __hash__ = None

    def to_dict(self) -> dict:
        """The values as nested dictionaries."""
        import copy
        return copy.deepcopy(self._values)

    def __repr__(self) -> str:
        return f"<{self._path}: {', '.join(self._values)}>"


def _overrides(values, path=""):
    """{"core": {"cube": {"startup": 30}}} as ["core.cube.startup=30"]; keys may have dots."""
    out = []
    for key, value in values.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            out += _overrides(value, here)
        else:
            out.append(f"{here}={str(value).lower() if isinstance(value, bool) else value}")
    return out


def _chip_getattr(self, key):
    if key.startswith("_"):
        raise AttributeError(key)
    return getattr(self.values, key)


def _chip_changed(self, values: _typing.Mapping[str, _typing.Any]) -> "Chip":
    """Another chip, with other values: {"core": {"cube": {"startup": 30}}, "memory.l2.size": "96MiB"}.

    Values are written as in a chip file, numbers that have a unit there with it. Errors: vinci.Error, which names the key.
    """
    return Chip.parse(self.text, _overrides(values))


def _columns(rows, keys):
    return {key: [row.get(key) for row in rows] for key in keys}


def tables(run: "Run") -> dict:
    """The statistics of a run with time as columns, so that pandas.DataFrame(tables["tasks"]) is a table.

    tasks: name, type, stream, blocks, bytes; enqueued, start, end, cold in cycles; us, the time without the cold start.
    pipes: core, pipe; busy, stalled, idle in cycles. counters: unit, counter, value. Errors: ValueError of a run without
    time.
    """
    stats = run.stats
    if stats is None:
        raise ValueError("a run of mode functional has no statistics")
    microsecond = stats["clock_hz"] / 1e6
    tasks = _columns(stats["tasks"], ["name", "type", "stream", "blocks", "bytes", "enqueued", "start", "end"])
    tasks["cold"] = [t.get("cold", 0) for t in stats["tasks"]]
    tasks["us"] = [(t["end"] - t["start"] - t.get("cold", 0)) / microsecond for t in stats["tasks"]]
    counters = {"unit": [], "counter": [], "value": []}

    def add(unit, name, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                add(unit, f"{name}.{key}" if name else key, inner)
        else:
            for key, item in zip(counters, (unit, name, value)):
                counters[key].append(item)

    for unit, group in stats["counters"].items():
        add(unit, "", group)
    return {"tasks": tasks, "pipes": _columns(stats["pipes"], ["core", "pipe", "busy", "stalled", "idle"]),
            "counters": counters}


def frames(run: "Run") -> dict:
    """The same as pandas.DataFrame, by name. Errors: ImportError without pandas."""
    import pandas
    return {name: pandas.DataFrame(columns) for name, columns in tables(run).items()}


def spans(run: "Run") -> dict:
    """The timeline of a run as columns: what, group, lane; begin and duration in us. Simulates again.

    Lanes are those of trace.json: pipes of cores, streams, threads of the host, wires.
    """
    groups, lanes = {}, {}
    out = {"what": [], "group": [], "lane": [], "begin": [], "duration": []}
    events = run.trace()
    events = events["traceEvents"] if isinstance(events, dict) else events
    for e in events:
        if e.get("ph") == "M" and e["name"] == "process_name":
            groups[e["pid"]] = e["args"]["name"]
        elif e.get("ph") == "M" and e["name"] == "thread_name":
            lanes[e["pid"], e.get("tid")] = e["args"]["name"]
    for e in events:
        if e.get("ph") != "X":
            continue
        row = (e["name"], groups.get(e["pid"]), lanes.get((e["pid"], e.get("tid"))), e["ts"], e["dur"])
        for key, value in zip(out, row):
            out[key].append(value)
    return out


def _work(job):
    stream, chip, options, outputs = job
    run = stream.run(chip, **options)
    out = {"cycles": run.cycles, "kernel_cycles": run.kernel_cycles, "cold_cycles": run.cold_cycles, "stats": run.stats,
           "numerics": run.numerics}
    if outputs:
        out["outputs"] = {name: None if array is None else array.copy() for name, array in run.outputs.items()}
    return out


def run_all(jobs: _typing.Iterable[_typing.Tuple["TaskStream", "Chip"]], *, processes: _typing.Optional[int] = None,
            outputs: bool = False, **options: _typing.Any) -> _typing.List[dict]:
    """Runs many task streams on chips, several at a time, each in a process of its own.

    jobs: pairs (stream, chip). options: those of TaskStream.run. Returns for each, in their order, a dictionary: cycles,
    kernel_cycles, cold_cycles, stats, numerics, with outputs=True also the arrays; of one that fails only `error`, the
    vinci.Error. processes: one for each processor if not given.
    """
    import os
    import pickle
    import tempfile
    jobs = list(jobs)
    most = max(1, min(len(jobs), processes or os.cpu_count() or 1))
    results = [None] * len(jobs)
    with tempfile.TemporaryDirectory(prefix="vinci-") as folder:
        running, waiting = {}, iter(range(len(jobs)))

        def begin(i):
            path = os.path.join(folder, str(i))
            child = os.fork()
            if child:
                running[child] = (i, path)
                return
            try:
                try:
                    value = _work((*jobs[i], options, outputs))
                except Error as e:
                    value = {"error": str(e), "status": e.status, "code": e.code}
                except Exception as e:  # of the caller: a job that is no pair, an unknown option
                    value = {"raised": f"job {i}: {type(e).__name__}: {e}"}
                with open(path, "wb") as file:
                    pickle.dump(value, file)
                os._exit(0)
            finally:
                os._exit(1)

        try:
            for i in waiting:
                begin(i)
                if len(running) == most:
                    break
            while running:
                child, status = os.waitpid(next(iter(running)), 0) if len(running) == 1 else os.wait()
                if child not in running:
                    continue
                i, path = running.pop(child)
                if status != 0:
                    raise RuntimeError(f"the process of job {i} ended with exit code {os.waitstatus_to_exitcode(status)}")
                with open(path, "rb") as file:
                    results[i] = pickle.load(file)
                if "raised" in results[i]:
                    raise RuntimeError(results[i]["raised"])
                for following in waiting:
                    begin(following)
                    break
        finally:
            import signal
            for child in running:
                os.kill(child, signal.SIGTERM)
            for child in running:
                os.waitpid(child, 0)
    for result in results:
        if "error" in result:
            failure = Error(result["error"])
            failure.status, failure.code = result.pop("status"), result.pop("code")
            result["error"] = failure
    return results


def tool() -> str:
    """The path of the command `vinci` that belongs to this module. Errors: FileNotFoundError."""
    import pathlib
    import shutil
    here = pathlib.Path(__file__).resolve().parent
    for path in (here.parent / "vinci/vinci", here.parent.parent / "bin/vinci"):
        if path.is_file():
            return str(path)
    found = shutil.which("vinci")
    if found is None:
        raise FileNotFoundError("there is no command vinci beside this module or in PATH")
    return found


def compile_network(model: str, chip: _typing.Union[str, "Chip"], folder: _typing.Optional[str] = None,
                    options: _typing.Sequence[str] = ()) -> "TaskStream":
    """A task stream of a network in ONNX, as `vinci compile MODEL --soc_version CHIP` makes it (docs/graph.md).

    chip: Ascend910B1, the name or the file of a chip, or a Chip. folder: where its files go; without one they are
    temporary. options: further ones of the command, such as ["--input_shape", "x:1,3,224,224"]. Errors: vinci.Error with
    the message of the command.
    """
    import os
    import subprocess
    import tempfile
    with tempfile.TemporaryDirectory(prefix="vinci-") as temporary:
        out = folder or os.path.join(temporary, "network")
        if isinstance(chip, Chip):
            path = os.path.join(temporary, "chip.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(chip.text)
            chip = path
        done = subprocess.run([tool(), "compile", str(model), "--soc_version", chip, "-o", out, *options],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            failure = Error(done.stderr.strip().removeprefix("error: "))
            failure.code = done.returncode
            failure.status = {2: "input", 3: "program", 4: "unsupported", 7: "limit"}.get(done.returncode, "internal")
            raise failure
        streams = [name for name in os.listdir(out) if name.endswith((".yaml", ".vts"))]
        if len(streams) != 1:
            raise RuntimeError(f"vinci compile wrote {len(streams)} task streams")
        return TaskStream.load(os.path.join(out, streams[0]))


def _repr_html_(self) -> str:
    """The report as a frame, for notebooks."""
    import html
    return ('<iframe style="width: 100%; height: 720px; border: 1px solid #8884" srcdoc="'
            + html.escape(self.report(), quote=True) + '"></iframe>')


Chip.__getattr__ = _chip_getattr
Chip.changed = _chip_changed
Run._repr_html_ = _repr_html_
Run.tables = tables
Run.frames = frames
Run.spans = spans
