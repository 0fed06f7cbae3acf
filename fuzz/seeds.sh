#!/bin/sh
# Makes seeds from the codecs' golden files, all of which are in the repository. Each target gets the messages, the wires, or both, after the
# header that it reads: codec, setting and length (`split` in src/lib.rs); for `frame`, the codec's id, the kind, and the lengths of note and
# message; for `stateful`, a channel's codec and setting, then pieces of a message as events of the channel; for `datatype` and `memory`, see the end.
set -eu
cd "$(dirname "$0")/.."
for target in roundtrip decode_hostile tiers_agree no_output_leak used_decoder frame stateful datatype memory; do
    mkdir -p "fuzz/corpus/$target"
done
# Numbers to bytes. The format is all octal escapes, so printf takes no argument.
bytes() { printf "$(printf '\\%03o' "$@")"; }
for wire in dfcm/tests/golden/*.dfcm* dfcm/tests/golden/*.lanes* diffpack/tests/golden/*.diffpack* \
    lzo-compat/tests/golden/*.lz* fpc/tests/golden/*.fpc* fpc/tests/reference/*.fpc \
    rice/tests/golden/*.rice* rice/tests/golden/*.ccsds* \
    rle-huffman/tests/golden/*.huffman* rle-huffman/tests/golden/*.fano* rle-huffman/tests/golden/*.rle*; do
    name=$(basename "$wire")
    setting=0
    # The number in `pair`, its setting, and the id in frames.
    case $name in
        *.dfcm*32*) codec=3 id=2 ;;
        *.dfcm*) codec=0 id=1 ;;
        *.lanes32) codec=12 setting=1 id=20 ;;
        *.lanes) codec=12 id=19 ;;
        *.diffpack32*) codec=7 id=4 ;;
        *.diffpack16*) codec=8 id=5 ;;
        *.lz77.fast) codec=13 id=18 ;;
        *.lzo1x.fast) codec=13 setting=1 id=17 ;;
        *.lz77.*) codec=13 setting=2 id=18 ;;
        *.lzo1x.*) codec=13 setting=3 id=17 ;;
        *.huffman*) codec=14 id=15 ;;
        *.fano*) codec=14 setting=4 id=16 ;;
        *.rle*) codec=14 setting=8 id=14 ;;
        *.level10.fpc) codec=15 setting=29 id=8 ;;
        *.level*.fpc) codec=15 setting=2 id=8 ;;
        *.fpc32) codec=15 setting=1 id=7 ;;
        *.fpc) codec=15 id=6 ;;
        *.rice8) codec=16 id=9 ;;
        *.rice16) codec=16 setting=1 id=10 ;;
        *.rice32) codec=16 setting=2 id=11 ;;
        *.rice64) codec=16 setting=3 id=12 ;;
        *.ccsds121.*) codec=16 setting=4 id=13 ;;
        *) codec=6 id=3 ;;
    esac
    # Only the greatest effort looks for copies.
    case $name in
        *.diffpack*.balanced) setting=1 ;;
        *.diffpack*.ratio) setting=2 ;;
    esac
    raw=$(dirname "$wire")/${name%%.*}.raw
    # Its codec refuses wires that need a reference. Codecs from 18 on have one, but a different one.
    [ ! -f "${raw%.raw}.reference" ] || codec=$((codec + 12))
    [ -f "$raw" ] || continue # of several messages
    len=$(($(wc -c < "$raw")))
    [ "$len" -lt 20000 ] || continue # more than `split` takes
    for target in decode_hostile tiers_agree no_output_leak; do
        { bytes "$codec" "$setting" $((len % 256)) $((len / 256)); cat "$wire"; } > "fuzz/corpus/$target/$name"
    done
    for target in roundtrip tiers_agree no_output_leak used_decoder; do
        { bytes "$codec" "$setting" $((len % 256)) $((len / 256)); cat "$raw"; } > "fuzz/corpus/$target/$name.raw"
    done
    # Also with a note: from rank 0, without a number; it has dealt with none.
    { bytes "$id" 6 0 $((len % 256)) $((len / 256)) 0; cat "$wire"; } > "fuzz/corpus/frame/$name"
    { bytes "$id" 6 4 $((len % 256)) $((len / 256)) 0; cat "$wire"; bytes 0 0 0 1; } > "fuzz/corpus/frame/$name.noted"
done
for raw in dfcm/tests/golden/*.raw; do
    name=$(basename "$raw" .raw)
    len=$(($(wc -c < "$raw")))
    # Doubles, then floats. 5 delivers the bytes that follow; the next byte gives their number.
    for codec in 0 1; do
        {
            bytes "$codec" 9
            at=0
            while [ "$at" -lt "$len" ] && [ "$at" -lt 5000 ]; do
                part=$((len - at > 200 ? 200 : len - at))
                bytes 5 "$part"
                tail -c "+$((at + 1))" "$raw" | head -c "$part"
                at=$((at + part))
            done
        } > "fuzz/corpus/stateful/$name.$codec"
    done
done
# Datatypes: count and cut, then constructors by number, each with a length and its arguments (`Input` in the target). A transpose of 9 by 9
# doubles, a structure of two indexed types, a subarray of a resized type.
bytes 1 100 4 0 9 1 88 3 0 9 1 89 0 3 > fuzz/corpus/datatype/transpose
bytes 2 51 9 2 1 2 80 180 5 2 1 2 80 90 0 3 7 3 2 81 85 99 0 2 > fuzz/corpus/datatype/structure
bytes 3 7 10 2 9 8 3 4 2 1 12 0 76 100 0 3 > fuzz/corpus/datatype/subarray
# Memory: the room of two processes, then events: process and event, channel or place. In each step both send a message and receive the other's, which
# has `$2` parts. Events 12, 14 and 16 lose, refuse and change what is on its way to process 0; `$3` comes before the last steps.
memory() {
    step="0 $1 1 $1" part=0
    while [ "$part" -lt "$2" ]; do
        step="$step 18 0 19 0" part=$((part + 1))
    done
    bytes 255 255 $step $step $step $step $step $step $3 $step $step $step $step
}
memory 0 1 "" > fuzz/corpus/memory/frames
memory 15 3 "" > fuzz/corpus/memory/streams
memory 8 1 "1 8 12 0 1 8 14 0" > fuzz/corpus/memory/lost
# Of the note: the number, the reference, `above`; its length; the payload.
for at in 1 2 3; do
    memory 5 1 "1 5 16 0 $at 128 0 1 0 0 18 0" > "fuzz/corpus/memory/changed.$at"
done
memory 5 1 "1 5 16 0 0 128 1 0 0 0 18 0" > fuzz/corpus/memory/changed.length
memory 5 1 "1 5 16 0 20 0 0 1 0 0 18 0" > fuzz/corpus/memory/changed.payload
# The length of the chunks, from 4096 to 2048 bytes.
memory 13 3 "1 13 16 0 9 0 0 24 0 0 18 0 18 0" > fuzz/corpus/memory/changed.stream
