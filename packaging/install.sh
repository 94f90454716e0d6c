#!/bin/sh
# Installs `thru` for this user, from a release:
#
#     sh install.sh                        the latest release
#     THRU_VERSION=0.1.0 sh install.sh     another one
#     THRU_FROM=/folder sh install.sh      from archives in a folder, without the network
#     THRU_PREFIX=/opt/thru sh install.sh  elsewhere than ~/.local
#
# It writes bin/thru, manual pages and completions below the prefix, and ~/.config/throughline/installed-by, which tells
# `thru self update` where this copy came from. It changes no file of your shell.
set -eu

repository=https://github.com/throughline/throughline
prefix=${THRU_PREFIX:-$HOME/.local}

fail() {
    echo "error: $1" >&2
    exit 1
}

target() {
    case $(uname -m) in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no release for $(uname -m); build it with cargo (see the README)" ;;
    esac
    case $(uname -s) in
        Darwin) echo "$machine-apple-darwin" ;;
        Linux)
            # A C library older than 2.28, or another one, gets the program that brings its own.
            libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.\([0-9]*\).*/\1/p')
            if [ "${libc:-0}" -ge 28 ]; then echo "$machine-unknown-linux-gnu"; else echo "$machine-unknown-linux-musl"; fi
            ;;
        *) fail "there is no release for $(uname -s)" ;;
    esac
}

fetch() {
    if [ -n "${THRU_FROM:-}" ]; then
        cp "$THRU_FROM/$1" "$2"
    elif command -v curl >/dev/null; then
        curl --proto '=https' --tlsv1.2 -fsSL "$source/$1" -o "$2"
    elif command -v wget >/dev/null; then
        wget -q --https-only "$source/$1" -O "$2"
    else
        fail "neither curl nor wget is here"
    fi
}

checksum() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

target=$(target)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=${THRU_VERSION:-}
source=$repository/releases/latest/download
if [ -n "$version" ]; then source=$repository/releases/download/v$version; fi
if [ -z "$version" ]; then
    fetch VERSION "$work/VERSION"
    version=$(cat "$work/VERSION")
fi
name=thru-$version-$target
fetch "$name.tar.xz" "$work/$name.tar.xz"
fetch "$name.tar.xz.sha256" "$work/$name.tar.xz.sha256"
[ "$(checksum "$work/$name.tar.xz")" = "$(cut -d ' ' -f 1 "$work/$name.tar.xz.sha256")" ] ||
    fail "the archive $name.tar.xz does not have the checksum that it should have; nothing was installed"
tar -xJf "$work/$name.tar.xz" -C "$work" || fail "tar could not unpack the archive; is xz installed?"

mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
    "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
# A new file takes the place of the old one, which may be running.
cp "$work/$name/thru" "$prefix/bin/thru.new"
chmod 755 "$prefix/bin/thru.new"
mv "$prefix/bin/thru.new" "$prefix/bin/thru"
cp "$work/$name"/man/*.1 "$prefix/share/man/man1/"
cp "$work/$name/completions/thru.bash" "$prefix/share/bash-completion/completions/thru"
cp "$work/$name/completions/_thru" "$prefix/share/zsh/site-functions/_thru"
cp "$work/$name/completions/thru.fish" "$prefix/share/fish/vendor_completions.d/thru.fish"
config=${XDG_CONFIG_HOME:-$HOME/.config}
if [ "$(uname -s)" = Darwin ]; then config="$HOME/Library/Application Support"; fi
mkdir -p "$config/throughline"
printf 'install.sh %s\n' "$prefix/bin/thru" >"$config/throughline/installed-by"

echo "Installed thru $version: $prefix/bin/thru"
case ":$PATH:" in
    *":$prefix/bin:"*) echo "Next: thru up" ;;
    *) echo "Next: put $prefix/bin on your PATH, then run: thru up" ;;
esac
