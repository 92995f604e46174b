#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# man.sh VINCI VERSION FOLDER: a manual page of the tool and one of each command, from their help texts.
set -eu
vinci=$1 version=$2 folder=$3
mkdir -p "$folder"

page() {  # NAME SUMMARY [COMMAND]
  help2man --no-info --section=1 --source="Vinci $version" --version-string="$version" --name="$2" \
    --help-option="${3:+$3 }--help" --output="$folder/$1.1" "$vinci"
}

page vinci "simulate Da Vinci-style NPUs (Ascend AI Core family)"
"$vinci" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1 \2/p' | while read -r command summary; do
  page "vinci-$command" "$summary" "$command"
done
