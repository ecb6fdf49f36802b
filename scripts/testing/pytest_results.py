"""A plugin for pytest: appends the results of tests to $MILLRACE_RESULTS, as events of
"go test -json", which internal/testreport reads.
"""

import json
import os

elapsed = {}
failed = set()


def pytest_runtest_logreport(report):
    test = report.nodeid
    elapsed[test] = elapsed.get(test, 0) + report.duration
    if report.failed:
        failed.add(test)
    if report.when != "teardown" or "PYTEST_XDIST_WORKER" in os.environ:  # workers tell the first process
        return
    file, _, name = test.partition("::")
    action = "fail" if test in failed else "skip" if report.skipped else "pass"
    event = {"Action": action, "Package": "sdk/python/" + file, "Test": name, "Elapsed": round(elapsed[test], 3)}
    with open(os.environ["MILLRACE_RESULTS"], "a", encoding="utf-8") as results:
        results.write(json.dumps(event) + "\n")
