# Shared by the scripts: installing what is missing, and finding out what this machine can do. Source it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# need "command or file" package ... : collects the packages of what is missing, then installs them, or lists them for
# a person without apt or the rights to use it.
missing_packages=()
need() {
  local what=$1
  shift
  if [[ $what == /* ]]; then
    compgen -G "$what" >/dev/null && return
  else
    command -v "$what" >/dev/null && return
  fi
  missing_packages+=("$@")
}
can_install() { command -v apt-get >/dev/null && { ((EUID == 0)) || command -v sudo >/dev/null; }; }
install_missing() {
  ((${#missing_packages[@]} == 0)) && return
  local run=()
  ((EUID == 0)) || run=(sudo)
  if ! can_install; then
    echo "Missing here, under the names of Debian's packages: ${missing_packages[*]}" >&2
    echo "Install them (as root: apt-get install ${missing_packages[*]}) and run this again." >&2
    exit 1
  fi
  echo "installing ${missing_packages[*]}"
  "${run[@]}" apt-get update -qq >/dev/null || true
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing_packages[@]}" >/dev/null
}
need_compiler() {
  need g++ g++
  need cmake cmake
  need ninja ninja-build
  need '/usr/include/zlib.h' zlib1g-dev
  need '/usr/include/png.h' libpng-dev
  need '/usr/include/*/cblas.h' libopenblas-dev
  # convolutions and sorts do without, and are slower: not where they would have to be installed by hand
  [[ $preset == cuda ]] || ! can_install || need /usr/include/oneapi/dnnl/dnnl.h libdnnl-dev
  [[ $preset == cuda ]] || ! can_install || need /usr/include/hwy/contrib/sort/vqsort.h libhwy-dev
}

# The GPU build where there is a CUDA compiler and a GPU.
preset=cpu-release device=cpu
if command -v nvcc >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
  preset=cuda device=cuda
fi
configure() {
  local launcher=()
  if command -v ccache >/dev/null; then
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1  # a clone in another folder finds what this one built
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
  # what cmake says is of use only where it fails
  local log
  log=$(mktemp)
  if ! cmake --preset "$1" "${launcher[@]}" "${@:2}" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
}
