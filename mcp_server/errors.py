"""What a caller of the evaluator did wrong, or what this machine lacks.

```
EvaluatorError
├── Mistyped            what was typed names nothing: exit code 2
│   ├── UnknownTask     no task of that id, or it is not unique
│   ├── UnknownSuite    no suite of that name was added, or its folder is gone
│   ├── NoSuchDevice    the device is not on this machine, or this torch cannot use it
│   ├── NotAGrant       what was typed names no client, or no scope
│   ├── BadAddress      it is no address, or others would reach it unguarded
│   └── NotAnExecutor   `--executor` is of no kind that there is
├── NotATask            the file is not in KernelBench format
├── NotASuite           the name or the folder cannot be a suite
├── NotAProject         the folder may not be read by tasks
├── NoInterpreter       the interpreter of `--python` does not run, or has no torch
│   └── NoSuchInterpreter `--python` names nothing: Mistyped, too
├── SandboxUnavailable  `--sandbox strict`, and no layer passes its probes
├── StateUnusable       the state folder cannot be written
├── BadTokenFile        the file of tokens is not as it should be
├── CannotListen        the address is taken, or not this machine's
├── QueueFull           the caller has too many jobs
├── UnknownId           no such job, candidate or artifact of this caller
├── ExecutorUnavailable the machines of `--executor` cannot be reached, or none of them will do
├── Unreadable          another version's work or outcome, or a damaged one
└── WorkerLost          a process of ours ended: never the candidate's fault
    └── HostLost        a machine that evaluated is gone, or does not answer
```

Every message is for a person: what happened, to which thing, and what to do next. A candidate that fails is a
verdict, never one of these.
"""

from __future__ import annotations


class EvaluatorError(Exception):
    """Anything below; the message is one sentence for a person."""


class Mistyped(EvaluatorError):
    """What was typed names nothing, or contradicts itself."""


class UnknownTask(Mistyped):
    """No task has this id."""


class NotATask(EvaluatorError):
    """The file does not hold a task in KernelBench format."""


class UnknownSuite(Mistyped):
    """No suite of this name was added, or its folder is not there."""


class NotASuite(EvaluatorError):
    """The name cannot name a suite, or the folder holds none."""


class NotAProject(EvaluatorError):
    """The folder or file may not be opened to the tasks of a person."""


class NoSuchDevice(Mistyped):
    """The device does not exist here, or the interpreter's torch cannot use it."""


class NoInterpreter(EvaluatorError):
    """The interpreter of `--python` does not run, or has no torch."""


class NoSuchInterpreter(Mistyped, NoInterpreter):
    """`--python` names neither a folder of an environment nor a program."""


class SandboxUnavailable(EvaluatorError):
    """No sandbox of the wanted strength works on this machine."""


class StateUnusable(EvaluatorError):
    """The state folder cannot be written."""


class BadTokenFile(EvaluatorError):
    """The file of tokens is not as it should be."""


class NotAGrant(Mistyped):
    """No client can be called so, or there is no such scope."""


class BadAddress(Mistyped):
    """It is no address, or the server must not listen there."""


class NotAnExecutor(Mistyped):
    """`--executor` is neither `local` nor an address of Ray's."""


class CannotListen(EvaluatorError):
    """The address is taken, or not this machine's."""


class QueueFull(EvaluatorError):
    """The caller has as many jobs as it may have."""


class UnknownId(EvaluatorError):
    """No job, candidate or artifact of this caller has the id."""


class ExecutorUnavailable(EvaluatorError):
    """The machines of `--executor` cannot be reached, or none of them can evaluate."""


class Unreadable(EvaluatorError):
    """What another host sent is of another version, or damaged."""


class WorkerLost(EvaluatorError):
    """A judge or worker process ended, or did not answer in time."""


class HostLost(WorkerLost):
    """A machine that evaluated is gone, or does not answer."""
