# SPDX-License-Identifier: BSD-2-Clause
# Turns the table of rules into rows for C: those that an observer decides.
BEGIN { FS = "\t" }
/^#/ || $1 == "id" || $3 !~ /O/ { next }
{
    name = $1
    sub(/-/, "_", name)
    printf "RULE(%s, \"%s\", ROCE_%s)\n", name, $1, toupper($2)
}
