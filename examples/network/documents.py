# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Tables in documents, between two lines that mark where they begin and end."""


def replace_table(document, begin, end, lines):
    """Replaces what `document` (a path) has between the marks `begin` and `end` by `lines`."""
    before, rest = document.read_text(encoding="utf-8").split(begin)
    document.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{rest.split(end)[1]}", encoding="utf-8")
