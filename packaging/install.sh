#!/bin/sh
# Installs Emend @VERSION@ for this user:
#
#     sh install.sh [--to FOLDER] [--from FOLDER_OR_ADDRESS]
#
# It takes the archive for this system from the release (or from where --from says), compares its SHA-256 with the one
# written below, tries the program, and only then puts it into ~/.local/bin or where --to says.
set -eu

version=@VERSION@
from=@RELEASE@
to=

fail() {
    echo "install.sh: $*. Nothing was installed." >&2
    exit 1
}

while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || fail "$1 needs a value, and there are only --to and --from"
    case $1 in
        --to) to=$2 ;;
        --from) from=$2 ;;
        *) fail "$1 is not known; there are --to and --from" ;;
    esac
    shift 2
done

if [ -z "$to" ]; then
    [ -n "${HOME:-}" ] || fail "there is no HOME, so say --to"
    to=$HOME/.local/bin
fi

case $(uname -s)-$(uname -m) in
    #@IF x86_64-unknown-linux-gnu
    Linux-x86_64)
        target=x86_64-unknown-linux-gnu
        wanted=@SHA256@
        ;;
    #@END
    #@IF aarch64-unknown-linux-gnu
    Linux-aarch64 | Linux-arm64)
        target=aarch64-unknown-linux-gnu
        wanted=@SHA256@
        ;;
    #@END
    #@IF x86_64-apple-darwin
    Darwin-x86_64)
        target=x86_64-apple-darwin
        wanted=@SHA256@
        ;;
    #@END
    #@IF aarch64-apple-darwin
    Darwin-arm64)
        target=aarch64-apple-darwin
        wanted=@SHA256@
        ;;
    #@END
    *) fail "there is no program for $(uname -s) on $(uname -m) in this release" ;;
esac

name=emend-$version-$target
work=$(mktemp -d) || fail "no temporary folder can be made"
staged=
trap 'rm -rf "$work"; [ -z "$staged" ] || rm -f "$staged"' EXIT
trap 'exit 1' HUP INT TERM

case $from in
    http://* | https://*)
        if command -v curl >/dev/null 2>&1; then
            curl -fsSL -o "$work/archive" "$from/$name.tar.gz" || fail "$from/$name.tar.gz cannot be had"
        elif command -v wget >/dev/null 2>&1; then
            wget -q -O "$work/archive" "$from/$name.tar.gz" || fail "$from/$name.tar.gz cannot be had"
        else
            fail "neither curl nor wget is there"
        fi
        ;;
    *) cp "$from/$name.tar.gz" "$work/archive" || fail "there is no $from/$name.tar.gz" ;;
esac

if command -v sha256sum >/dev/null 2>&1; then
    found=$(sha256sum "$work/archive")
else
    found=$(shasum -a 256 "$work/archive") || fail "neither sha256sum nor shasum is there"
fi
[ "${found%% *}" = "$wanted" ] || fail "the archive is not the one of the release: its SHA-256 is ${found%% *}, not $wanted"

tar -xzf "$work/archive" -C "$work" || fail "the archive cannot be unpacked"
said=$("$work/$name/emend" --version) || fail "the program does not start on this system"
mkdir -p "$to" || fail "$to cannot be made"
# Beside its place first: the old program is replaced in one step, or not at all.
staged=$to/.emend-$$
cp "$work/$name/emend" "$staged" || fail "$to cannot be written to"
chmod 755 "$staged"
mv -f "$staged" "$to/emend" || fail "$to/emend cannot be replaced"
staged=
echo "$said is $to/emend"
case :$PATH: in
    *:"$to":*) ;;
    *) echo "$to is not in your PATH: put it there, or name $to/emend in full." ;;
esac
