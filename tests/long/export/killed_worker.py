# SPDX-License-Identifier: MIT
"""killed_worker.py DASK FLEET: asks for the functions of a fleet while one of three workers is killed that has a part of the answer.
DASK is the folder of fleet_dask.py."""
import argparse
import json
import os
import signal
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])
# For the workers, too. Nothing is written beside the sources.
os.environ.update(PYTHONPATH=sys.argv[1], PYTHONDONTWRITEBYTECODE="1")
sys.dont_write_bytecode = True

import fleet_dask
from dask.distributed import Client, LocalCluster


def kill_one(cluster, client, thread):
    """True if a worker that had results was killed before the answer was complete."""
    pids = {str(worker.worker_address): worker.pid for worker in cluster.workers.values()}
    while thread.is_alive():
        for address, keys in client.has_what().items():
            if keys and thread.is_alive():
                os.kill(pids[address], signal.SIGKILL)
                return thread.is_alive()
        time.sleep(0.005)
    return False


def main():
    given = argparse.Namespace(question="top", by="function", folder=sys.argv[2], where=[], a=[], b=[], since=None, until=None, at=None, files=1)
    result = {}
    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        thread = threading.Thread(target=lambda: result.update(answer=fleet_dask.top(given)))
        thread.start()
        result["killed"] = kill_one(cluster, client, thread)
        thread.join()
    print(json.dumps(result, default=int))


if __name__ == "__main__":
    main()
