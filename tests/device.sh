#!/usr/bin/env bash
# Run what needs a GPU: the tests of the arches cuda and vulkan, and Table 1's grids on both.
#
#   tests/device.sh [PYTHON]
#
# It ends with a non-zero status if a test fails, or if a test was skipped because one of the two devices is not there.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

echo "date    $(date -u +%F)"
echo "commit  $(git rev-parse --verify --quiet HEAD 2>/dev/null || echo "${COMMIT:-unknown}")"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sed 's/^/gpu     /'
"$python" -m chordless info

# Each process takes up to about 13 GB of the GPU.
"$python" -m pytest --no-header -n logical --maxprocesses=6 -m "cuda or vulkan" -p no:cacheprovider | tee "$log"
if grep -Eq "SKIPPED.*needs a (cuda|vulkan) device" "$log"; then
    echo "tests/device.sh: a device is missing: see the skipped tests" >&2
    exit 1
fi

for arch in cuda vulkan; do
    for spec in grid:5x10 grid:6x10 grid:7x10 grid:8x10 bipartite:50x50; do
        "$python" -m chordless count "$spec" --method search --arch "$arch" --json --progress none |
            "$python" -c "import json, sys; r = json.load(sys.stdin); print(*(r[k] for k in ('arch', 'device', 'graph', 'total', 'complete')), r['seconds'], sep='  ')"
    done
done
"$python" -m chordless count grid:7x10 --arch cuda --expansion paper --json --progress none |
    "$python" -c "import json, sys; r = json.load(sys.stdin); print('paper expansion', r['graph'], 'peak of T', r['frontier']['peak'], r['seconds'])"
