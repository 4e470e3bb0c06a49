//! HTML that is safe by construction: text gets into it only escaped.

use std::fmt::{self, Display};

/// Finished markup.
#[derive(Debug, Clone, Default)]
pub(super) struct Html(String);

impl Html {
    /// Markup from this crate's source, with `format_args!` around [`text`] and other [`Html`].
    pub(super) fn from(markup: fmt::Arguments<'_>) -> Html {
        Html(markup.to_string())
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

impl Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(parts: I) -> Html {
        Html(parts.into_iter().map(|part| part.0).collect())
    }
}

/// Any text, for between tags and for inside quoted attributes.
pub(super) fn text(raw: &str) -> Html {
    let mut escaped = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    Html(escaped)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            text("<b title=\"x\" id='y'>&amp;</b>").into_string(),
            "&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;&lt;/b&gt;"
        );
    }
}
