//! Links: checks that the links of all Markdown pages are valid, and makes those that leave the book lead to the repository.

use std::collections::BTreeSet;
use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::error::Error;

/// The addresses of the repository's files for readers of the book; images are linked in their raw form.
const PAGES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");
const IMAGES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/raw/main/");

/// The folder of the book's pages.
const BOOK: &str = "docs";

/// A preprocessor of mdBook: reads the book from standard input and writes it with changed links. mdBook first asks whether a renderer is supported
/// (`supports NAME`); the exit status says yes.
pub(crate) fn preprocess(question: &[String]) -> Result<(), Error> {
    if !question.is_empty() {
        return Ok(());
    }
    let failed = |message: String| Error::Program { run: "book-links".to_owned(), message };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(Error::file("standard input"))?;
    let mut input: Vec<Value> =
        serde_json::from_str(&text).map_err(|error| failed(format!("this is no book of mdBook: {error}")))?;
    let mut book = input.pop().ok_or_else(|| failed("there is no book on standard input".to_owned()))?;
    change(&mut book);
    println!("{book}");
    Ok(())
}

/// Changes the links of all chapters: values that have a path and a content.
fn change(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(change),
        Value::Object(fields) => {
            let path = fields.get("path").and_then(Value::as_str).map(|path| Path::new(BOOK).join(path));
            if let (Some(path), Some(Value::String(content))) = (path, fields.get_mut("content")) {
                *content = outward(content, &path);
            }
            fields.values_mut().for_each(change);
        }
        _ => {}
    }
}

/// A page whose links to files outside the book lead to the repository.
fn outward(page: &str, path: &Path) -> String {
    let mut changed = page.to_owned();
    // From the end, so that earlier positions stay valid.
    for link in links(page).into_iter().rev() {
        let target = &page[link.place.clone()];
        let (file, anchor) = target.split_once('#').map_or((target, None), |(file, at)| (file, Some(at)));
        if is_elsewhere(target) || file.is_empty() {
            continue;
        }
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        let leads_to = resolved(path, file);
        if !leads_to.starts_with(BOOK) || leads_to.ends_with("SUMMARY.md") {
            let base = if link.is_image { IMAGES } else { PAGES };
            changed.replace_range(link.place, &format!("{base}{}{anchor}", leads_to.display()));
        } else if let Some(folder) = file.strip_suffix("README.md") {
            // mdBook renders a README as index.html, but does not change links to it.
            changed.replace_range(link.place, &format!("{folder}index.md{anchor}"));
        }
    }
    changed
}

/// A link in a page.
struct Link {
    /// The byte range of its target.
    place: Range<usize>,
    is_image: bool,
}

/// The links of a page, except those in code.
fn links(page: &str) -> Vec<Link> {
    let mut found = Vec::new();
    let (mut start, mut fenced) = (0, false);
    for line in page.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let code = code(line);
            let mut from = 0;
            while let Some(at) = line[from..].find("](").map(|at| from + at) {
                from = at + 2;
                let Some(end) = line[from..].find(')').map(|end| from + end) else { break };
                if !code.iter().any(|code| code.contains(&at)) {
                    // For an image, there is a `!` before the opening bracket.
                    let open = line[..at].rfind('[').unwrap_or(0);
                    let is_image = line[..open].ends_with('!');
                    found.push(Link { place: start + from..start + end, is_image });
                }
            }
            if let Some(at) = line.find("]: ").filter(|_| line.starts_with('[')) {
                found.push(Link { place: start + at + 3..start + line.trim_end().len(), is_image: false });
            }
        }
        start += line.len();
    }
    found
}

/// The ranges of a line that are code.
fn code(line: &str) -> Vec<Range<usize>> {
    let marks: Vec<_> = line.match_indices('`').map(|(at, _)| at).collect();
    marks.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// The path of a link's file, relative to the same folder as the page's path.
fn resolved(page: &Path, file: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
#[cfg_attr(not(test), allow(dead_code, reason = "only the test of the pages needs it"))]
fn anchors(page: &str) -> BTreeSet<String> {
    let (mut all, mut fenced) = (BTreeSet::new(), false);
    for line in page.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if fenced || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String =
            kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let mut names = std::iter::once(anchor.clone()).chain(numbered);
        if let Some(free) = names.find(|name| !all.contains(name)) {
            all.insert(free);
        }
    }
    all
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;

    use super::*;
    use crate::paths::Paths;

    /// All pages below a folder, except those written by tools and builds, and without symbolic links to pages elsewhere.
    pub(crate) fn pages(dir: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() && !name.starts_with('.') && !name.starts_with("target") {
                found.extend(pages(&path));
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
        found
    }

    /// Describes the error in a link of a page, if there is one.
    fn wrong(page: &Path, target: &str) -> Option<String> {
        // Pages of published crates are also read elsewhere, so they link to the repository.
        let here = target.strip_prefix(PAGES);
        if here.is_none() && is_elsewhere(target) {
            return None;
        }
        let (file, anchor) = here.unwrap_or(target).split_once('#').unwrap_or((here.unwrap_or(target), ""));
        let path = match here {
            Some(_) => Paths::find().unwrap().root().join(file),
            None if file.is_empty() => page.to_owned(),
            None => resolved(page, file),
        };
        if !path.exists() {
            return Some("there is no such file".to_owned());
        }
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        let missing =
            is_page && !anchor.is_empty() && !anchors(&fs::read_to_string(&path).unwrap()).contains(anchor);
        missing.then(|| format!("{} has no such heading", path.display()))
    }

    #[test]
    fn every_link_of_every_page_leads_somewhere() {
        let root = Paths::find().unwrap().root().to_owned();
        let (mut count, mut errors) = (0, Vec::new());
        for path in pages(&root) {
            let page = fs::read_to_string(&path).unwrap();
            for link in links(&page) {
                // Templates of the packages contain the version.
                let target = &page[link.place.clone()];
                count += 1;
                if let Some(why) = wrong(&path, target) {
                    let line = page[..link.place.start].lines().count();
                    errors.push(format!("{}:{line}: {target}: {why}", path.display()));
                }
            }
        }
        assert!(count > 200, "{count} links were found");
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }

    #[test]
    fn the_book_has_every_page_of_its_folder_once() {
        let docs = Paths::find().unwrap().root().join(BOOK);
        let summary = docs.join("SUMMARY.md");
        let text = fs::read_to_string(&summary).unwrap();
        let mut listed: Vec<_> =
            links(&text).into_iter().map(|link| resolved(&summary, &text[link.place])).collect();
        listed.sort();
        let mut there = pages(&docs);
        there.retain(|page| *page != summary);
        there.sort();
        assert_eq!(listed, there);
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let page = "# A\n[b](c.md) `[d](e)` ![f](g.svg)\n```\n[h](i)\n```\n[j]: ../k.md\n";
        let found: Vec<_> = links(page).into_iter().map(|link| (&page[link.place], link.is_image)).collect();
        assert_eq!(found, [("c.md", false), ("g.svg", true), ("../k.md", false)]);
    }

    #[test]
    fn anchors_are_numbered_where_headings_are_alike() {
        let page = "# The `x_y` (a, b)\n## Notes\n```\n# no heading\n```\n## Notes\n";
        let expected = ["the-x_y-a-b", "notes", "notes-1"].map(str::to_owned);
        assert_eq!(anchors(page), BTreeSet::from(expected));
    }

    #[test]
    fn a_wrong_link_is_found() {
        let page = Paths::find().unwrap().root().join("README.md");
        assert_eq!(wrong(&page, "ARCHITECTURE.md"), None);
        assert_eq!(wrong(&page, "https://example.org/x"), None);
        assert!(wrong(&page, "NO-SUCH.md").is_some());
        assert_eq!(wrong(&page, &format!("{PAGES}docs/install.md#on-a-cluster")), None);
        assert!(wrong(&page, &format!("{PAGES}docs/no-such.md")).is_some());
        assert!(wrong(&page, "ARCHITECTURE.md#no-such-heading").is_some());
    }

    #[test]
    fn links_that_leave_the_book_lead_to_the_repository() {
        let mut book = serde_json::json!({"items": [{"Chapter": {
            "path": "papers/a.md",
            "content": "[a](../b.md#c) [d](../../e/README.md#f) ![g](../../benches/g.svg) [h](#i) [m](../README.md)",
            "sub_items": [{"Chapter": {"path": "j.md", "content": "[k](../l.md) [n](SUMMARY.md)", "sub_items": []}}],
        }}]});
        change(&mut book);
        let chapter = &book["items"][0]["Chapter"];
        let expected = format!(
            "[a](../b.md#c) [d]({PAGES}e/README.md#f) ![g]({IMAGES}benches/g.svg) [h](#i) [m](../index.md)"
        );
        assert_eq!(chapter["content"], expected);
        assert_eq!(
            chapter["sub_items"][0]["Chapter"]["content"],
            format!("[k]({PAGES}l.md) [n]({PAGES}docs/SUMMARY.md)")
        );
    }
}
