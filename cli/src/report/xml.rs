//! Markup that is well-formed by construction: elements close themselves, and every text and value is escaped.

use std::fmt::{Display, Write as _};

/// A markup builder. The output is valid as HTML and as XML.
#[derive(Default)]
pub(super) struct Xml(String);

/// Names and values.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

impl Xml {
    /// An element with its content.
    pub(super) fn element(&mut self, name: &str, attributes: Attributes<'_>, inside: impl FnOnce(&mut Self)) {
        self.open(name, attributes);
        self.0.push_str(">\n");
        inside(self);
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "</{name}>");
    }

    /// An element with text content.
    pub(super) fn leaf(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.open(name, attributes);
        self.0.push('>');
        escape(&mut self.0, text);
        let _ = writeln!(self.0, "</{name}>");
    }

    /// An empty element. HTML supports the short form for some of its own elements, such as `meta`, and for all SVG elements.
    pub(super) fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.open(name, attributes);
        self.0.push_str("/>\n");
    }

    fn open(&mut self, name: &str, attributes: Attributes<'_>) {
        let _ = write!(self.0, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"");
            escape(&mut self.0, &value.to_string());
            self.0.push('"');
        }
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

fn escape(markup: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => markup.push_str("&amp;"),
            '<' => markup.push_str("&lt;"),
            '>' => markup.push_str("&gt;"),
            '"' => markup.push_str("&quot;"),
            '\'' => markup.push_str("&#39;"),
            '\t' | '\n' => markup.push(c),
            // These characters cannot be represented in XML.
            '\u{fffe}' | '\u{ffff}' => markup.push('\u{fffd}'),
            c if c.is_control() => markup.push('\u{fffd}'),
            c => markup.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_place() {
        let mut xml = Xml::default();
        let hostile = "</p><script>\"'&amp;\0\u{1b}[2J\u{ffff}é";
        xml.element("p", &[("title", &hostile)], |xml| xml.leaf("b", &[], hostile));
        let escaped = "&lt;/p&gt;&lt;script&gt;&quot;&#39;&amp;amp;\u{fffd}\u{fffd}[2J\u{fffd}é";
        let xml = xml.finish();
        assert_eq!(xml, format!("<p title=\"{escaped}\">\n<b>{escaped}</b>\n</p>\n"));
        assert!(roxmltree::Document::parse(&xml).is_ok());
    }

    #[test]
    fn numbers_are_values() {
        let mut xml = Xml::default();
        xml.empty("line", &[("x1", &1.5), ("class", &"axis")]);
        assert_eq!(xml.finish(), "<line x1=\"1.5\" class=\"axis\"/>\n");
    }
}
