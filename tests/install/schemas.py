#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""schemas.py VINCI SOURCE: the JSON Schemas take what the tool takes, and refuse what it refuses."""
import json
import pathlib
import subprocess
import sys
import unittest

import jsonschema
import yaml

VINCI, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def errors(schema, document):
    jsonschema.Draft202012Validator.check_schema(schema)
    return [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]


class Chips(unittest.TestCase):
    schema = json.loads(subprocess.run([VINCI, "check", "--schema"], capture_output=True, text=True, check=True).stdout)

    def test_built_in_chips(self):
        table = subprocess.run([VINCI, "chips"], capture_output=True, text=True, check=True).stdout.split("\n\n")[0]
        names = [line.split()[0] for line in table.splitlines()[1:]]
        self.assertGreater(len(names), 5)
        for name in names:
            text = subprocess.run([VINCI, "chips", name], capture_output=True, text=True, check=True).stdout
            self.assertEqual(errors(self.schema, yaml.safe_load(text)), [], name)

    def test_chip_files(self):
        files = sorted((SOURCE / "configs" / "chips").glob("*.yaml"))
        self.assertTrue(files)
        for file in files:
            self.assertEqual(errors(self.schema, yaml.safe_load(file.read_text())), [], file.name)

    def test_what_the_tool_refuses(self):
        for text in ("ai_coers: 20", "ai_cores: many", "core: {cube: {startup: -1}}", "core: {cube: {startup: 1, colour: 2}}"):
            self.assertNotEqual(errors(self.schema, yaml.safe_load("extends: ascend-910b1\n" + text)), [], text)

    def test_every_key_has_a_description(self):
        def missing(node, path):
            for key, value in node.get("properties", {}).items():
                if "description" not in value:
                    yield f"{path}.{key}"
                yield from missing(value, f"{path}.{key}")
        self.assertEqual(list(missing(self.schema, "chip")), [])


class Sweeps(unittest.TestCase):
    schema = json.loads((SOURCE / "tools" / "install" / "sweep.schema.json").read_text())

    def test_examples(self):
        for file in (SOURCE / "examples" / "sweep").glob("*.yaml"):
            self.assertEqual(errors(self.schema, yaml.safe_load(file.read_text())), [], file.name)

    def test_what_the_tool_refuses(self):
        for text in ("gird: {a: [1]}", "grid: {a: {low: 1}}", "mode: fast", "random: {points: 0, axes: {a: [1]}}",
                     "grid: {a: []}"):
            document = yaml.safe_load("command: gen gemm\nchip: tiny\n" + text)
            self.assertNotEqual(errors(self.schema, document), [], text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
