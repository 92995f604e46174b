# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Optuna for `vinci sweep`: a question a line on standard input, an answer a line on standard output, all JSON.

argv[1]: {"seed": 1, "minimise": 1, "axes": [{"key": ..., "values": [...]} or {"key", "low", "high", "step", "log", "whole"}]}
{"ask": n} is answered by [{"number": 0, "values": [...]}, ...] with the values in the order of the axes;
{"tell": number, "values": [...] or null} by {}.
"""
import json
import sys

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
setup = json.loads(sys.argv[1])
# With several things to minimise the sampler that Optuna recommends for them, else its default.
several = setup["minimise"] > 1
sampler = (optuna.samplers.NSGAIISampler if several else optuna.samplers.TPESampler)(seed=setup["seed"])
study = optuna.create_study(directions=["minimize"] * setup["minimise"], sampler=sampler)
trials = {}


def suggest(trial, axis):
    """A value of an axis."""
    key = axis["key"]
    if "values" in axis:
        return trial.suggest_categorical(key, axis["values"])
    step = axis["step"] or None
    if axis["whole"]:
        return trial.suggest_int(key, int(axis["low"]), int(axis["high"]), step=int(step or 1), log=axis["log"])
    return trial.suggest_float(key, axis["low"], axis["high"], step=step, log=axis["log"])


def ask():
    trial = study.ask()
    trials[trial.number] = trial
    return {"number": trial.number, "values": [suggest(trial, axis) for axis in setup["axes"]]}


for line in sys.stdin:
    question = json.loads(line)
    if "ask" in question:
        answer = [ask() for _ in range(question["ask"])]
    else:
        trial = trials.pop(question["tell"])
        if question["values"] is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, question["values"])
        answer = {}
    print(json.dumps(answer), flush=True)
