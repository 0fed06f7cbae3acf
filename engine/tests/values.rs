//! The calls for values and files of each codec crate, as a program writes them that depends on this crate alone. (The engine sends frames instead.)

use std::io::{Read as _, Write as _};

macro_rules! codecs {
    ($($name:ident: $module:path, $codec:ident;)*) => {$(
        #[test]
        fn $name() {
            use $module::{Compress as _, codec_of, compress_with, decoded_len, decompress_with};
            use $module::{$codec, Codec, io};

            let values: Vec<f64> = (0..40_000).map(|at| f64::from(at / 7) * 0.25).collect();
            let len = size_of_val(&values[..]);
            let bytes = $codec::compress(&values).unwrap();
            assert!(bytes.len() < len && bytes.capacity() == bytes.len());
            assert_eq!((codec_of(&bytes), decoded_len(&bytes)), (Ok($codec::ID), Ok(len)));
            assert_eq!($codec::decompress::<f64>(&bytes, len).unwrap(), values);
            let mut room = vec![0.0; values.len()];
            $codec::decompress_into(&bytes, &mut room).unwrap();
            assert_eq!(room, values);
            assert!($codec::decompress::<f64>(&bytes, len - 1).is_err());
            assert!($codec::decompress_into(&bytes, &mut room[1..]).is_err());

            let (mut encoder, mut decoder) = ($codec::encoder(), $codec::decoder());
            let bytes = compress_with($codec::ID, &mut encoder, &values).unwrap();
            let back = decompress_with::<f64>($codec::ID, &mut decoder, &bytes, len);
            assert_eq!(back.unwrap(), values);

            let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let mut writer = io::Writer::<$codec, _>::new(Vec::new());
            writer.write_all(&raw).unwrap();
            let file = writer.finish().unwrap();
            let mut back = Vec::new();
            io::Reader::<$codec, _>::new(&file[..]).read_to_end(&mut back).unwrap();
            assert!(file.len() < len && back == raw);
        }
    )*};
}

codecs! {
    dfcm: mpress_dfcm, Dfcm64;
    diffpack: mpress_diffpack, Diffpack64;
    fpc: mpress_fpc, Fpc64;
    huffman: mpress_rle_huffman, Huffman;
    lz77: mpress_lzo_compat, Lz77;
    lzo: mpress_lzo_compat, Lzo1x;
    rice: mpress_rice, Rice64;
    rle: mpress_rle_huffman, Rle;
    shannon_fano: mpress_rle_huffman, ShannonFano;
}
