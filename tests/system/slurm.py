#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""slurm.py VINCI: a sweep on a cluster of one node, this machine, with a real slurmctld and slurmd.

As root, because slurmd wants it. Daemons, their keys and their state live in a temporary folder and end with the test.
"""
import csv
import getpass
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time

VINCI = os.path.abspath(sys.argv[1])

POINTS = """
command: gen gemm --m 64 --n 64 --k 64
chip: ascend-910b1
grid:
  --m: {low: 16, high: 96, step: 16}
  core.cube.startup: [10, 20, 30]
"""

CONFIG = """
ClusterName=vinci
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """A munged, a slurmctld and a slurmd in a folder of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = []
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        folder.chmod(0o755)
        (folder / "slurm.conf").write_text(CONFIG.format(
            host=socket.gethostname().split(".")[0], user=getpass.getuser(), folder=folder, cpus=os.cpu_count(),
            ctld_port=free_port(), slurmd_port=free_port()), encoding="utf-8")
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")

    def start(self):
        socket_path = self.folder / "munge.socket"
        self.daemon("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key", f"--socket={socket_path}",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                    f"--seed-file={self.folder}/munged.seed")
        self.wait("munged", socket_path.exists)
        self.daemon("slurmctld", "-D", "-c")
        self.daemon("slurmd", "-D")
        self.wait("a node that is idle", lambda: "idle" in subprocess.run(
            ["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True).stdout)

    def daemon(self, name, *options):
        path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
        if path is None:
            sys.exit(f"{name} is missing: apt install slurmctld slurmd slurm-client munge")
        with open(self.folder / f"{name}.out", "w", encoding="utf-8") as out:
            self.daemons.append(subprocess.Popen([path, *options], stdout=out, stderr=subprocess.STDOUT))

    def wait(self, what, happened):
        for _ in range(300):
            if happened():
                return
            time.sleep(0.1)
        for log in [*self.folder.glob("*.log"), *self.folder.glob("*.out")]:
            print(f"== {log.name}\n{log.read_text(errors='replace')[-2000:]}")
        sys.exit(f"the cluster did not get as far as {what}")

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()


def sweep(folder, out, *options):
    done = subprocess.run([VINCI, "sweep", "points.yaml", "-o", out, *options], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"vinci sweep {' '.join(options)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    with open(folder / out / "sweep.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)), done.stdout


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")
    print(f"ok: {what}")


def check_a_killed_sweep(folder, expected):
    """Jobs that were submitted leave their results although no process waits for them."""
    waiting = subprocess.Popen([VINCI, "sweep", "points.yaml", "-o", "killed", "--slurm", "-q"], cwd=folder)
    arrays = folder / "killed" / "jobs"
    while not list(arrays.glob("array-*.sh")):
        time.sleep(0.05)
    time.sleep(0.5)
    waiting.kill()
    waiting.wait()
    results = folder / "killed" / "results"
    for _ in range(600):
        if len(list(results.glob("*.json"))) == len(expected):
            break
        time.sleep(0.1)
    check(len(list(results.glob("*.json"))) == len(expected), "jobs end without the command that submitted them")
    rows, text = sweep(folder, "killed", "--slurm")
    check(rows == expected and f"{len(expected)} known" in text, "the next run takes over what they have left")


def main():
    with tempfile.TemporaryDirectory(prefix="vinci-slurm-") as name:
        folder = pathlib.Path(name)
        (folder / "points.yaml").write_text(POINTS, encoding="utf-8")
        cluster = Cluster(folder)
        try:
            cluster.start()
            local, _ = sweep(folder, "local")
            rows, _ = sweep(folder, "slurm", "--slurm", "--jobs", "2", "--slurm-option=--partition=all")
            check(len(rows) == 18 and rows == local, "a sweep of Slurm gives the table of a local one")
            check_a_killed_sweep(folder, local)
            wrong = subprocess.run([VINCI, "sweep", "points.yaml", "-o", "wrong", "--slurm", "--slurm-option=--partition=none"],
                                   cwd=folder, capture_output=True, text=True)
            check(wrong.returncode == 2 and "Slurm did not take the jobs" in wrong.stderr, "a wrong option is an error")
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
