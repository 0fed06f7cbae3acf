//! The folders of the shim are layers, in the order of `lib.rs`: none imports from one above it. Imports of
//! modules have no cycles.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules of a folder and its subfolders, by their paths (`collectives::blocks`), with their text.
fn modules(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() && name != "abi" {
            modules(&path, &format!("{prefix}{name}::"), found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "lib" {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            found.insert(format!("{prefix}{name}"), code.collect::<Vec<_>>().join(" "));
        }
    }
}

/// The paths after `crate::` in a text, expanded from groups: `{a::{b, c}, d}` gives `a::b`, `a::c` and `d`.
fn named(text: &str) -> Vec<String> {
    fn paths(text: &str, prefix: &str, all: &mut Vec<String>) -> usize {
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let len = text.find(|c| !is_path(c)).unwrap_or(text.len());
        let path = format!("{prefix}{}", &text[..len]);
        if !text[len..].starts_with('{') {
            all.push(path);
            return len;
        }
        let mut at = len + 1;
        while !text[at..].starts_with('}') {
            let skipped = text[at..].len() - text[at..].trim_start_matches([' ', ',']).len();
            at += skipped;
            if text[at..].starts_with('}') {
                break;
            }
            let read = paths(&text[at..], &path, all);
            at += read;
            // Skip ` as other`, or text that is not a path.
            at += text[at..].find([',', '}']).expect("a group ends");
        }
        at + 1
    }
    let mut all = Vec::new();
    for (at, word) in text.match_indices("crate::") {
        paths(&text[at + word.len()..], "", &mut all);
    }
    all
}

/// For each module, the modules that it imports from.
fn imports(modules: &BTreeMap<String, String>) -> BTreeMap<&str, BTreeSet<&str>> {
    let module_of = |path: &str| {
        let ends = path.match_indices("::").map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| modules.get_key_value(&path[..end])).last().map(|(name, _)| name.as_str())
    };
    let of = |(name, text): (&String, &String)| {
        named(text).iter().filter_map(|path| module_of(path)).filter(|other| other != name).collect()
    };
    modules.iter().map(|module| (module.0.as_str(), of(module))).collect()
}

#[test]
fn imports_point_one_way() {
    let mut found = BTreeMap::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../pmpi-shim/src"), "", &mut found);
    let mut left = imports(&found);
    assert!(left.values().map(BTreeSet::len).sum::<usize>() > 150, "{left:?}");
    assert!(left["edge::calls"].contains("handlers::send"));
    // Repeatedly removes the modules that import nothing that remains. The rest are in cycles, or import from
    // one.
    loop {
        let lowest: BTreeSet<&str> =
            left.iter().filter(|(_, from)| from.is_empty()).map(|(name, _)| *name).collect();
        if lowest.is_empty() {
            break;
        }
        left.retain(|name, _| !lowest.contains(name));
        left.values_mut().for_each(|from| from.retain(|name| !lowest.contains(name)));
    }
    assert!(left.is_empty(), "these modules import each other, or from such: {left:#?}");
}

/// The layers from the top down, as the list in `lib.rs` names them.
fn layers(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("lib.rs")).unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("//! - `")?.split_once('`'));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn no_layer_imports_from_one_above_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pmpi-shim/src");
    let (layers, mut found) = (layers(&folder), BTreeMap::new());
    modules(&folder, "", &mut found);
    let layer_of = |module: &str| {
        let name = module.split("::").next().unwrap();
        layers.iter().position(|layer| layer == name).unwrap_or_else(|| panic!("{module} is in no layer"))
    };
    for (module, others) in imports(&found) {
        for other in others {
            assert!(layer_of(other) >= layer_of(module), "{module} imports from {other}");
        }
    }
}
