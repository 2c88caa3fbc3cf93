#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seats that other launchers keep: Open MPI's mpirun (PMIx), MPICH's (PMI-1), Slurm's srun (PMIx).

Usage: check_run_launchers.py WEFT PROBE LIBRARY_FOLDER [NAME=MPIRUN...] [Mpich] [OpenMpi] [Slurm] [WithoutPlugin]
"""
import ctypes
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from check_run_support import LAUNCHERS, LIBRARIES, WEFT, main, probe, run, wait_until

ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}
WITH_PMIX = os.path.exists(os.path.join(LIBRARIES, "weft-launch-pmix.so"))


class Launcher:
    """What holds under every one of them; a class below says how a job is started."""

    def command(self, ranks):
        raise NotImplementedError

    def start(self, ranks, *words, **options):
        return run([*self.command(ranks), *words], env=ENVIRONMENT, **options)

    def test_ranks_find_each_other(self):
        for ranks in (1, 2, 4):
            done = self.start(ranks, *probe("sit", "exchange=5000", "exchange", "secret", "who", "leave"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(done.stdout.splitlines()), [f"rank {rank} of {ranks}" for rank in range(ranks)])

    def test_through_a_script(self):
        done = self.start(3, "sh", "-c", '"$@"; exit $?', "sh", *probe("sit", "exchange", "who", "leave"))
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 3), done.stderr)

    def test_settings_are_variables(self):
        done = self.start(2, "env", "WEFT_RAILS=lo", *probe("sit", "settings@0", "leave"))
        self.assertIn("rails=lo\n", done.stdout)

    def test_abort(self):
        done = self.start(3, *probe("sit", "exchange", "abort=42@1", "hang"))
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("weft: rank 1: told to abort"), 1, done.stderr)

    def test_signals_stay_the_programs(self):
        done = self.start(2, *probe("signals", "sit", "exchange", "raise=10", "signals=2", "leave"))
        self.assertEqual(done.stdout.count("caught 10"), 2, done.stderr)

    def test_inside_it_weft_run_comes_first(self):
        done = self.start(1, WEFT, "run", "-n", "3", *probe("sit", "exchange", "who", "leave"))
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 3), done.stderr)


@unittest.skipUnless("mpich" in LAUNCHERS, "MPICH's mpirun is not installed")
class Mpich(Launcher, unittest.TestCase):
    def command(self, ranks):
        return [LAUNCHERS["mpich"], "-np", str(ranks)]


@unittest.skipUnless("openmpi" in LAUNCHERS, "Open MPI's mpirun is not installed")
@unittest.skipUnless(WITH_PMIX, "weft was built without libpmix")
class OpenMpi(Launcher, unittest.TestCase):
    def command(self, ranks):
        return [LAUNCHERS["openmpi"], "-np", str(ranks)]


class WithoutPlugin(unittest.TestCase):
    def test_says_what_to_install(self):
        done = run([probe()[0], "/no/folder", "sit"], env={"PMIX_RANK": "0", "PMIX_NAMESPACE": "x"})
        self.assertEqual(done.returncode, 99)
        self.assertIn("install libpmix-dev", done.stderr)


PR_SET_CHILD_SUBREAPER = 36


def adopted():
    """Whether there are children; takes leave of those that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True


def free_ports(count):
    """Ports below those that the system gives to connections, so that no other test's connection takes one before Slurm does."""
    first_given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    ports = []
    for port in random.sample(range(first_given // 2, first_given), 100):
        with socket.socket() as listener:
            try:
                listener.bind(("", port))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == count:
            return ports
    raise AssertionError(f"none of 100 ports below {first_given} is free")


class Cluster:
    """Slurm with this machine as its one node: all files in a folder of its own, all ports free ones."""

    def __init__(self):
        # Slurm's helpers leave their parents; so they come to us in the end, and nobody stays.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.folder = tempfile.TemporaryDirectory(prefix="weft-slurm-")
        self.place = pathlib.Path(self.folder.name)
        self.daemons = []
        self.place.chmod(0o755)
        for name in ("munge", "state", "spool"):
            (self.place / name).mkdir(mode=0o755)
        key = self.place / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.write_files()
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def write_files(self):
        place, host = self.place, socket.gethostname()
        controller_port, node_port = free_ports(2)
        (place / "slurm.conf").write_text("\n".join([
            "ClusterName=weft-test", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", "AuthType=auth/munge",
            f"AuthInfo=socket={place}/munge/socket", "CryptoType=crypto/munge", f"SlurmctldPort={controller_port}", f"SlurmdPort={node_port}",
            f"StateSaveLocation={place}/state", f"SlurmdSpoolDir={place}/spool", f"SlurmctldPidFile={place}/slurmctld.pid",
            f"SlurmdPidFile={place}/slurmd.pid", f"SlurmctldLogFile={place}/slurmctld.log", f"SlurmdLogFile={place}/slurmd.log",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
            "SchedulerType=sched/builtin", "MpiDefault=none", "ReturnToService=2", "JobAcctGatherType=jobacct_gather/none", "KillWait=2", "SlurmdParameters=config_overrides",
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN",
            f"PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4", ""]), encoding="utf-8")
        (place / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")
        self.environment = {**ENVIRONMENT, "SLURM_CONF": str(place / "slurm.conf")}

    def launch(self, *words):
        with open(self.place / f"{os.path.basename(words[0])}.out", "wb") as log:
            self.daemons.append(subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                 env={**os.environ, **self.environment}, start_new_session=True))

    def start(self):
        munge = self.place / "munge"
        self.launch("/usr/sbin/munged", "-F", "-f", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                    f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.expect(lambda: (munge / "socket").exists())
        self.launch("/usr/sbin/slurmctld", "-D", "-c")
        self.launch("/usr/sbin/slurmd", "-D", "-c", "-N", socket.gethostname(), "-b")
        self.expect(lambda: b"idle" in self.call("sinfo", "-h", "-o", "%t"))

    def expect(self, true):
        if not wait_until(true):
            logs = "\n".join(f"{path}:\n{path.read_text(errors='replace')[-2000:]}" for path in self.place.glob("*.[lo][ou][gt]"))
            raise AssertionError("Slurm does not start:\n" + logs)

    def call(self, *words):
        return subprocess.run(words, env={**os.environ, **self.environment}, check=False, capture_output=True).stdout

    def stop(self):
        if len(self.daemons) == 3:
            self.call("scancel", "--full", "--user=root")
            wait_until(lambda: not self.call("squeue", "-h").strip(), 10)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        wait_until(lambda: not adopted(), 10)
        self.folder.cleanup()


MISSING = [name for name in ("munged", "slurmctld", "slurmd", "srun", "sinfo")
           if not shutil.which(name, path="/usr/sbin:/usr/bin:" + os.environ["PATH"])]


@unittest.skipUnless(WITH_PMIX, "weft was built without libpmix")
@unittest.skipIf(MISSING, f"Slurm is not installed: {' '.join(MISSING)} missing")
@unittest.skipUnless(os.geteuid() == 0, "starting Slurm needs root")
class Slurm(Launcher, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        if b"pmix" not in cls.cluster.call("srun", "--mpi=list"):
            raise unittest.SkipTest("Slurm was built without PMIx")

    def command(self, ranks):
        return ["srun", "--mpi=pmix", "--overcommit", "-n", str(ranks)]

    def start(self, ranks, *words, **options):
        return run([*self.command(ranks), *words], env=self.cluster.environment, **options)

    def test_weft_run_uses_the_allocation(self):
        done = run(["salloc", "-Q", "-n", "3", WEFT, "run", "-v", *probe("sit", "exchange", "who", "leave")], env=self.cluster.environment)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"rank {rank} of 3" for rank in range(3)], done.stderr)
        self.assertIn(f"host {socket.gethostname()} has ranks 0 1 2", done.stderr)

    def test_weft_run_starts_agents_by_srun(self):
        # As if the node were another one: the remote shell is Slurm's own way.
        shell = "srun --overlap --quiet --mpi=none --nodes=1 --ntasks=1 --nodelist=" + socket.gethostname()
        done = run(["salloc", "-Q", "-n", "2", WEFT, "run", "-n", "2", "--hosts", "elsewhere", "--rsh", shell + " env --unset=%h",
                    *probe("sit", "exchange", "who", "leave")], env=self.cluster.environment)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2), done.stderr)


if __name__ == "__main__":
    main("check_run_launchers")
