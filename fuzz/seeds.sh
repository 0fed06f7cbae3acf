#!/bin/sh
# Makes seeds of the codecs' golden files: a message behind codec, setting and length (the header that `split` in
# src/lib.rs reads), for the targets that encode; its wire behind the same, for those that decode.
set -eu
cd "$(dirname "$0")/.."
for target in roundtrip decode_hostile levels_agree no_output_leak; do
    mkdir -p "fuzz/corpus/$target"
done
for wire in dfcm/tests/golden/*.dfcm* diffpack/tests/golden/*.diffpack*; do
    name=$(basename "$wire")
    case $name in
        *.dfcm*32*) codec=3 ;;
        *.dfcm*) codec=0 ;;
        *.diffpack32*) codec=7 ;;
        *.diffpack16*) codec=8 ;;
        *) codec=6 ;;
    esac
    raw=$(dirname "$wire")/${name%%.*}.raw
    [ -f "$raw" ] || continue # of several messages
    len=$(($(wc -c < "$raw")))
    header=$(printf '\\%03o\\000\\%03o\\%03o' "$codec" $((len % 256)) $((len / 256)))
    for target in decode_hostile levels_agree no_output_leak; do
        { printf "$header"; cat "$wire"; } > "fuzz/corpus/$target/$name"
    done
    for target in roundtrip levels_agree no_output_leak; do
        { printf "$header"; cat "$raw"; } > "fuzz/corpus/$target/$name.raw"
    done
done
