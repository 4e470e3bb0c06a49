//! Faces of the demo members, drawn as SVG from a few colours.

/// How a member looks.
pub(super) struct Portrait {
    pub(super) ground: &'static str,
    pub(super) skin: &'static str,
    pub(super) hair: &'static str,
    pub(super) style: Hair,
    pub(super) shirt: &'static str,
}

pub(super) enum Hair {
    Short,
    Long,
    Bob,
    Curls,
    Bun,
}

impl Portrait {
    /// Attributes only, no style element, so that the strictest policy shows it.
    pub(super) fn svg(&self) -> String {
        let Portrait { ground, skin, hair, style, shirt } = self;
        let (behind, front) = style.shapes();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 96 96\">\
             <rect width=\"96\" height=\"96\" fill=\"{ground}\"/>\
             <g fill=\"{hair}\">{behind}</g>\
             <path d=\"M14 96c2-20 16-28 34-28s32 8 34 28z\" fill=\"{shirt}\"/>\
             <path d=\"M40 58h16v13a8 8 0 0 1-16 0z\" fill=\"{skin}\"/>\
             <ellipse cx=\"48\" cy=\"44\" rx=\"17\" ry=\"20\" fill=\"{skin}\"/>\
             <g fill=\"{hair}\">{front}</g>\
             <g fill=\"#2b2320\"><circle cx=\"41.5\" cy=\"45\" r=\"1.9\"/><circle cx=\"54.5\" cy=\"45\" r=\"1.9\"/></g>\
             <path d=\"M42 53.5q6 5 12 0\" fill=\"none\" stroke=\"#2b2320\" stroke-width=\"1.8\" \
             stroke-linecap=\"round\"/></svg>"
        )
    }
}

impl Hair {
    /// The shapes behind the head, and in front of it.
    fn shapes(&self) -> (&'static str, &'static str) {
        match self {
            Hair::Short => {
                ("", "<path d=\"M30 42c-1-17 8-23 18-23s19 6 18 23c-3-9-8-13-18-13s-15 4-18 13z\"/>")
            }
            Hair::Long => (
                "<path d=\"M26 74c-2-40 4-57 22-57s24 17 22 57c-8 4-36 4-44 0z\"/>",
                "<path d=\"M31 41c0-14 7-20 17-20s17 6 17 20c-6-3-12-8-15-12-4 6-12 10-19 12z\"/>",
            ),
            Hair::Bob => (
                "<path d=\"M27 58c-3-30 5-40 21-40s24 10 21 40c-6 5-36 5-42 0z\"/>",
                "<path d=\"M31 40c0-12 7-19 17-19s17 7 17 19c-9-4-25-4-34 0z\"/>",
            ),
            Hair::Curls => (
                "<circle cx=\"30\" cy=\"36\" r=\"9\"/><circle cx=\"66\" cy=\"36\" r=\"9\"/>\
                 <circle cx=\"28\" cy=\"48\" r=\"7\"/><circle cx=\"68\" cy=\"48\" r=\"7\"/>",
                "<circle cx=\"37\" cy=\"27\" r=\"9\"/><circle cx=\"48\" cy=\"23\" r=\"10\"/>\
                 <circle cx=\"59\" cy=\"27\" r=\"9\"/>",
            ),
            Hair::Bun => (
                "<circle cx=\"48\" cy=\"15\" r=\"9\"/>",
                "<path d=\"M30 42c0-17 8-23 18-23s18 6 18 23c-4-10-10-14-18-14s-14 4-18 14z\"/>",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::people::MEMBERS;

    #[test]
    fn portraits_need_no_style_and_no_script() {
        for member in MEMBERS {
            let svg = member.portrait.svg();
            assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>"));
            assert!(!svg.contains("style") && !svg.contains("<script") && !svg.contains("  "), "{svg}");
        }
    }
}
