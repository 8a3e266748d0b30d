#!/bin/sh
# Puts what footfall imports, and a machine with JAX and NumPy lacks, into .gpu-deps (ignored by git):
# for a GPU machine that installs nothing itself. There: PYTHONPATH=src:.gpu-deps python3 ...
#
#   tools/gpu_folder.sh [PYTHON_VERSION]        default 3.12: compiled parts are of that Python
set -e
version=${1:-3.12}
cd "$(dirname "$0")/.."
rm -rf .gpu-deps
pip() {
    ${PYTHON:-python3} -m pip install --quiet --target .gpu-deps --python-version "$version" \
        --only-binary=:all: --implementation cp --platform manylinux2014_x86_64 \
        --platform manylinux_2_17_x86_64 --platform manylinux_2_28_x86_64 "$@"
}
# JAX and NumPy are there already, and would be most of the weight: what needs them comes alone.
pip --no-deps equinox diffrax lineax optimistix jaxtyping wadler-lindig
pip --upgrade pydantic typer rich tomli-w
find .gpu-deps -name __pycache__ -type d -prune -exec rm -rf {} +
du -sh .gpu-deps
