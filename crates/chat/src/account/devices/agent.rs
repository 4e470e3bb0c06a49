//! Reduces a `User-Agent` header to a browser and a system, so that people recognise their devices.

use serde::{Deserialize, Serialize};

/// The browser and its operating system: two bytes, for a `User-Agent` of any length (RFC 9110 §10.1.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Agent {
    pub browser: Browser,
    pub system: System,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Browser {
    #[default]
    Unknown,
    Firefox,
    Edge,
    Opera,
    Samsung,
    Chrome,
    Safari,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum System {
    #[default]
    Unknown,
    Android,
    Iphone,
    Ipad,
    Windows,
    Mac,
    ChromeOs,
    Linux,
}

/// The first match counts: browsers also name the browsers that they imitate.
const BROWSERS: [(&str, Browser); 10] = [
    ("Edg/", Browser::Edge),
    ("EdgA/", Browser::Edge),
    ("EdgiOS/", Browser::Edge),
    ("OPR/", Browser::Opera),
    ("SamsungBrowser/", Browser::Samsung),
    ("Firefox/", Browser::Firefox),
    ("FxiOS/", Browser::Firefox),
    ("CriOS/", Browser::Chrome),
    ("Chrome/", Browser::Chrome),
    ("Safari/", Browser::Safari),
];

const SYSTEMS: [(&str, System); 7] = [
    ("Android", System::Android),
    ("iPhone", System::Iphone),
    ("iPad", System::Ipad),
    ("Windows", System::Windows),
    ("Macintosh", System::Mac),
    ("CrOS", System::ChromeOs),
    ("Linux", System::Linux),
];

/// Bytes of the header that are read; the rest is ignored.
const MAX_BYTES: usize = 512;

impl Agent {
    pub fn parse(header: &[u8]) -> Agent {
        let header = &header[..header.len().min(MAX_BYTES)];
        let has = |mark: &str| header.windows(mark.len()).any(|part| part == mark.as_bytes());
        Agent {
            browser: BROWSERS.iter().find(|(mark, _)| has(mark)).map_or(Browser::Unknown, |(_, one)| *one),
            system: SYSTEMS.iter().find(|(mark, _)| has(mark)).map_or(System::Unknown, |(_, one)| *one),
        }
    }

    pub fn is_known(self) -> bool {
        self != Agent::default()
    }

    /// The number that stores keep.
    pub fn code(self) -> u16 {
        self.browser as u16 | (self.system as u16) << 8
    }

    pub fn of_code(code: u16) -> Agent {
        let mut browsers = BROWSERS.iter().map(|(_, one)| *one);
        let mut systems = SYSTEMS.iter().map(|(_, one)| *one);
        Agent {
            browser: browsers.find(|one| *one as u16 == code & 0xff).unwrap_or_default(),
            system: systems.find(|one| *one as u16 == code >> 8).unwrap_or_default(),
        }
    }
}

impl Browser {
    /// The product's name, which is the same in every language; empty if unknown.
    pub fn name(self) -> &'static str {
        match self {
            Browser::Unknown => "",
            Browser::Firefox => "Firefox",
            Browser::Edge => "Edge",
            Browser::Opera => "Opera",
            Browser::Samsung => "Samsung Internet",
            Browser::Chrome => "Chrome",
            Browser::Safari => "Safari",
        }
    }
}

impl System {
    pub fn name(self) -> &'static str {
        match self {
            System::Unknown => "",
            System::Android => "Android",
            System::Iphone => "iPhone",
            System::Ipad => "iPad",
            System::Windows => "Windows",
            System::Mac => "macOS",
            System::ChromeOs => "ChromeOS",
            System::Linux => "Linux",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn browsers_are_recognised_by_their_user_agent() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0 Safari/537.36";
        for (header, browser, system) in [
            (chrome, Browser::Chrome, System::Linux),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0",
                Browser::Firefox,
                System::Windows,
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0 Safari/537.36 Edg/128.0",
                Browser::Edge,
                System::Windows,
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1 Version/17.5 Mobile/15E148 Safari/604.1",
                Browser::Safari,
                System::Iphone,
            ),
            (
                "Mozilla/5.0 (Linux; Android 14; SM-G991B) AppleWebKit/537.36 SamsungBrowser/25.0 Chrome/121.0 Mobile Safari/537.36",
                Browser::Samsung,
                System::Android,
            ),
            ("curl/8.5", Browser::Unknown, System::Unknown),
            ("", Browser::Unknown, System::Unknown),
        ] {
            assert_eq!(Agent::parse(header.as_bytes()), Agent { browser, system }, "{header}");
        }
    }

    proptest! {
        #[test]
        fn no_header_does_harm(header in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            let agent = Agent::parse(&header);
            prop_assert_eq!(Agent::of_code(agent.code()), agent);
        }

        #[test]
        fn every_code_round_trips(code: u16) {
            let agent = Agent::of_code(code);
            prop_assert_eq!(Agent::of_code(agent.code()), agent);
        }
    }
}
