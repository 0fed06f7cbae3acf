"""Runs mpi4py's own test suite and writes the outcome of each test to PREFIX.RANK, one line at a time as it happens:
`start TEST`, then `OUTCOME TEST`, with a tab after the outcome. The last line is `end`.

    record.py TEST_FOLDER PREFIX [OPTIONS OF THE SUITE...]
"""

import sys
import unittest


class Record(unittest.TextTestResult):
    """The usual result, which also writes the lines."""

    # Importing mpi4py.MPI initialises MPI, and the suite has options for that: do not import it before the first test.
    lines = None

    def line(self, outcome, test=None):
        if Record.lines is None:
            from mpi4py import MPI

            Record.lines = open(f"{sys.argv[2]}.{MPI.COMM_WORLD.Get_rank()}", "w", encoding="utf-8")
        words = [outcome] if test is None else [outcome, test.id()]
        print(*words, sep="\t", file=Record.lines, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.line("start", test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("passed", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("failed", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.line("error", test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.line("failed", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("skipped: " + " ".join(reason.split()), test)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.line("failed as expected", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.line("passed unexpectedly", test)

    def stopTestRun(self):
        super().stopTestRun()
        self.line("end")


def run(folder, options):
    sys.path.insert(0, folder)
    import main

    sys.dont_write_bytecode = True
    runner = unittest.TextTestRunner(resultclass=Record)
    main.main(module=None, argv=[f"{folder}/main.py", *options], testRunner=runner)


# Processes that a test spawns also import this file.
if __name__ == "__main__":
    run(sys.argv[1], sys.argv[3:])
