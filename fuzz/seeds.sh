#!/bin/sh
# Makes seeds of the codecs' golden files: a message behind codec, setting and length (the header that `split` in
# src/lib.rs reads), for the targets that encode; its wire behind the same, for those that decode. `used_decoder` gets the message.
set -eu
cd "$(dirname "$0")/.."
for target in roundtrip decode_hostile levels_agree no_output_leak used_decoder; do
    mkdir -p "fuzz/corpus/$target"
done
for wire in dfcm/tests/golden/*.dfcm* dfcm/tests/golden/*.lanes* diffpack/tests/golden/*.diffpack* \
    lzo-compat/tests/golden/*.lz* fpc/tests/golden/*.fpc* fpc/tests/reference/*.fpc \
    rice/tests/golden/*.rice* rice/tests/golden/*.ccsds* \
    rle-huffman/tests/golden/*.huffman* rle-huffman/tests/golden/*.fano* rle-huffman/tests/golden/*.rle*; do
    name=$(basename "$wire")
    setting=0
    case $name in
        *.dfcm*32*) codec=3 ;;
        *.dfcm*) codec=0 ;;
        *.lanes32) codec=12 setting=1 ;;
        *.lanes) codec=12 ;;
        *.diffpack32*) codec=7 ;;
        *.diffpack16*) codec=8 ;;
        *.lz77.fast) codec=13 ;;
        *.lzo1x.fast) codec=13 setting=1 ;;
        *.lz77.*) codec=13 setting=2 ;;
        *.lzo1x.*) codec=13 setting=3 ;;
        *.huffman*) codec=14 ;;
        *.fano*) codec=14 setting=4 ;;
        *.rle*) codec=14 setting=8 ;;
        *.level10.fpc) codec=15 setting=29 ;;
        *.level*.fpc) codec=15 setting=2 ;;
        *.fpc32) codec=15 setting=1 ;;
        *.fpc) codec=15 ;;
        *.rice8) codec=16 ;;
        *.rice16) codec=16 setting=1 ;;
        *.rice32) codec=16 setting=2 ;;
        *.rice64) codec=16 setting=3 ;;
        *.ccsds121.*) codec=16 setting=4 ;;
        *) codec=6 ;;
    esac
    raw=$(dirname "$wire")/${name%%.*}.raw
    [ -f "$raw" ] || continue # of several messages
    len=$(($(wc -c < "$raw")))
    [ "$len" -lt 20000 ] || continue # more than `split` takes
    header=$(printf '\\%03o\\%03o\\%03o\\%03o' "$codec" "$setting" $((len % 256)) $((len / 256)))
    for target in decode_hostile levels_agree no_output_leak; do
        { printf "$header"; cat "$wire"; } > "fuzz/corpus/$target/$name"
    done
    for target in roundtrip levels_agree no_output_leak used_decoder; do
        { printf "$header"; cat "$raw"; } > "fuzz/corpus/$target/$name.raw"
    done
done
