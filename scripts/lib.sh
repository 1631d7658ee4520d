# shellcheck shell=bash
# What the scripts share: the repository's root, the Python to use, the environment in .venv.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"

# A name on PATH is not enough: a version manager leaves names for versions it has not installed.
find_python() {
  local name
  if [[ -z "${TWOLANE_PYTHON:-}" ]] && is_new_enough "$venv/bin/python" pip; then
    echo "$venv/bin/python"
    return
  fi
  for name in ${TWOLANE_PYTHON:+"$TWOLANE_PYTHON"} python3.13 python3.12 python3.11 python3 python; do
    if is_new_enough "$name" venv; then
      command -v "$name"
      return
    fi
  done
  echo "twolane needs Python 3.11 or newer with the venv module, and none of python3.13," \
    "python3.12, python3.11, python3 and python on PATH is one. Install it (on Debian and Ubuntu:" \
    "apt-get install python3 python3-venv), or name it: TWOLANE_PYTHON=/path/to/python3 $0" >&2
  return 1
}

# Whether the Python $1 starts, is new enough and has the module $2.
is_new_enough() {
  "$1" -c "import sys, $2; sys.exit(sys.version_info < (3, 11))" >/dev/null 2>&1
}

# Makes or updates .venv with what $1 needs: "run" or "dev". Quick when nothing has changed.
prepare() {
  local python
  python="$(find_python)" || return 1
  "$python" "$root/scripts/environment.py" "$venv" "$1"
}
