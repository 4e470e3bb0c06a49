//! The members of the demo community and their first messages. All invented.

use super::portrait::{Hair, Portrait};

/// A member of the allotment society.
pub(super) struct Member {
    /// Also the `sub` of the tokens and the name in addresses.
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) portrait: Portrait,
}

impl Member {
    pub(super) fn first_name(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or(self.name)
    }

    pub(super) fn avatar(&self) -> String {
        format!("/demo/avatar/{}.svg", self.id)
    }
}

pub(super) fn member(id: &str) -> Option<&'static Member> {
    MEMBERS.iter().find(|member| member.id == id)
}

/// The member of the second window.
pub(super) fn partner(of: &Member) -> &'static Member {
    let id = if of.id == "anna" { "tom" } else { "anna" };
    MEMBERS.iter().find(|member| member.id == id).unwrap_or(&MEMBERS[0])
}

/// A thread of the forum.
pub(super) struct Thread {
    pub(super) slug: &'static str,
    pub(super) title: &'static str,
    pub(super) board: &'static str,
    pub(super) posts: &'static [Post],
}

pub(super) struct Post {
    pub(super) by: &'static str,
    pub(super) when: &'static str,
    pub(super) text: &'static [&'static str],
}

/// A conversation that exists when the demo is opened for the first time.
pub(super) struct Talk {
    /// Age of the newest message at the start in minutes; each earlier one is three minutes older.
    pub(super) minutes_ago: u64,
    /// Number of newest messages that the other member has not read.
    pub(super) unread: usize,
    /// Author and text of each line.
    pub(super) lines: &'static [(&'static str, &'static str)],
}

pub(super) const MEMBERS: &[Member] = &[
    Member {
        id: "anna",
        name: "Anna Lindqvist",
        about: "Plot 7 · dahlias, runner beans, too many courgettes",
        portrait: Portrait {
            ground: "#cfe3d4",
            skin: "#f1c9a5",
            hair: "#b5652b",
            style: Hair::Long,
            shirt: "#2f6f4f",
        },
    },
    Member {
        id: "tom",
        name: "Tom Okafor",
        about: "Plot 12 · tomatoes under glass, treasurer",
        portrait: Portrait {
            ground: "#f6dfb4",
            skin: "#8d5a3b",
            hair: "#231a16",
            style: Hair::Short,
            shirt: "#b4502e",
        },
    },
    Member {
        id: "mei",
        name: "Mei Tanaka",
        about: "Plot 3 · herbs, shiso, a very tidy shed",
        portrait: Portrait {
            ground: "#d9dcf2",
            skin: "#f3d3b0",
            hair: "#1c1c22",
            style: Hair::Bob,
            shirt: "#5b5fa8",
        },
    },
    Member {
        id: "yusuf",
        name: "Yusuf Demir",
        about: "Plot 21 · aubergines against all advice",
        portrait: Portrait {
            ground: "#f4d3cd",
            skin: "#d9a577",
            hair: "#2d211b",
            style: Hair::Curls,
            shirt: "#8a3b4a",
        },
    },
    Member {
        id: "ingrid",
        name: "Ingrid Haug",
        about: "Plot 1 · founding member, moderator of this forum",
        portrait: Portrait {
            ground: "#e4e0d4",
            skin: "#f2cdb3",
            hair: "#d9d6cf",
            style: Hair::Bun,
            shirt: "#6b7a3a",
        },
    },
    Member {
        id: "raj",
        name: "Raj Patel",
        about: "Plot 15 · compost, and opinions about compost",
        portrait: Portrait {
            ground: "#cde4e6",
            skin: "#b07a50",
            hair: "#1f1814",
            style: Hair::Short,
            shirt: "#27697a",
        },
    },
    Member {
        id: "chloe",
        name: "Chloé Martin",
        about: "Plot 9 · bees (two hives) and lavender",
        portrait: Portrait {
            ground: "#fbe7b8",
            skin: "#f0c7a3",
            hair: "#6d4021",
            style: Hair::Curls,
            shirt: "#a9761b",
        },
    },
    Member {
        id: "piotr",
        name: "Piotr Zieliński",
        about: "Plot 18 · potatoes, eleven kinds",
        portrait: Portrait {
            ground: "#dfe8c6",
            skin: "#efc6a2",
            hair: "#8c6a3a",
            style: Hair::Short,
            shirt: "#4d6b2c",
        },
    },
    Member {
        id: "sofia",
        name: "Sofia Rossi",
        about: "Plot 5 · figs in pots, basil everywhere",
        portrait: Portrait {
            ground: "#f1d5e2",
            skin: "#e6b78f",
            hair: "#3a2620",
            style: Hair::Long,
            shirt: "#94476d",
        },
    },
    Member {
        id: "hamish",
        name: "Hamish Reid",
        about: "Plot 2 · keys, gates, and the mower",
        portrait: Portrait {
            ground: "#d3dfec",
            skin: "#f3cbb2",
            hair: "#c2612d",
            style: Hair::Short,
            shirt: "#33557e",
        },
    },
    Member {
        id: "amara",
        name: "Amara Nwosu",
        about: "Plot 14 · okra, sweet potatoes, new since spring",
        portrait: Portrait {
            ground: "#e6d6f0",
            skin: "#7a4a30",
            hair: "#1d1512",
            style: Hair::Bun,
            shirt: "#6a3f8f",
        },
    },
    Member {
        id: "jonas",
        name: "Jonas Weber",
        about: "Plot 11 · builds trellises for everybody",
        portrait: Portrait {
            ground: "#d8e6dd",
            skin: "#f0c9ab",
            hair: "#d2b06a",
            style: Hair::Bob,
            shirt: "#3e6e63",
        },
    },
];

pub(super) const THREADS: &[Thread] = &[
    Thread {
        slug: "seed-swap",
        title: "Seed swap on Sunday: who brings what?",
        board: "Events",
        posts: &[
            Post {
                by: "anna",
                when: "Today, 08:12",
                text: &[
                    "Tables go up at ten by the big water butt. I bring runner beans (Polestar), calendula and about \
                     forty courgette seeds that I am begging somebody to take.",
                    "Please label your envelopes with the variety and the year. Last time we had three bags that said \
                     “green thing”.",
                ],
            },
            Post {
                by: "mei",
                when: "Today, 08:40",
                text: &["Shiso, red and green, and Thai basil. I have spare envelopes and a stamp."],
            },
            Post {
                by: "piotr",
                when: "Today, 09:05",
                text: &[
                    "No seed potatoes, sadly: the club rules ask for certified ones. But I bring coffee, which is legal.",
                ],
            },
            Post {
                by: "amara",
                when: "Today, 09:31",
                text: &["First swap for me. Would okra be welcome, or does nobody have the warmth for it?"],
            },
            Post {
                by: "yusuf",
                when: "Today, 09:44",
                text: &["Very welcome. If it grows for one of us, it will be for spite."],
            },
        ],
    },
    Thread {
        slug: "slugs",
        title: "Slugs have found the lettuce. What works for you?",
        board: "Growing",
        posts: &[
            Post {
                by: "sofia",
                when: "Yesterday, 19:20",
                text: &[
                    "Nine seedlings on Monday, two this morning. I am open to anything that is not salt.",
                ],
            },
            Post {
                by: "ingrid",
                when: "Yesterday, 19:58",
                text: &[
                    "Forty years of negotiations: a board between the rows, turned over every morning. They sleep under \
                     it, and then they move to the compost.",
                    "Copper tape slows them down and makes one feel better.",
                ],
            },
            Post { by: "raj", when: "Yesterday, 20:11", text: &["The compost accepts them with open arms."] },
            Post {
                by: "chloe",
                when: "Yesterday, 21:02",
                text: &[
                    "Please no pellets near the hives. The frogs by plot 9 do half of the work if you let them.",
                ],
            },
        ],
    },
    Thread {
        slug: "east-gate",
        title: "East gate: new lock, same code",
        board: "Notices",
        posts: &[
            Post {
                by: "hamish",
                when: "Yesterday, 11:30",
                text: &[
                    "The old lock has been retired with honours. The new one turns the other way round. Lift the gate a \
                     little, then turn.",
                ],
            },
            Post {
                by: "jonas",
                when: "Yesterday, 12:15",
                text: &["Thank you! I can plane the post on Saturday."],
            },
            Post {
                by: "tom",
                when: "Yesterday, 12:40",
                text: &["Receipt to me, please, and the money is yours."],
            },
        ],
    },
    Thread {
        slug: "tomatoes",
        title: "Too early to plant the tomatoes out?",
        board: "Growing",
        posts: &[
            Post {
                by: "tom",
                when: "Monday, 17:45",
                text: &["The window sill is full and the forecast says seven degrees at night. Do I dare?"],
            },
            Post {
                by: "ingrid",
                when: "Monday, 18:20",
                text: &["Not before the middle of the month. I have seen snow on this slope in May, twice."],
            },
            Post {
                by: "piotr",
                when: "Monday, 18:33",
                text: &["Put half of them out. Then one of you is right."],
            },
        ],
    },
    Thread {
        slug: "compost",
        title: "Show us your compost",
        board: "Sheds and heaps",
        posts: &[
            Post {
                by: "raj",
                when: "Sunday, 10:02",
                text: &[
                    "Sixty-two degrees in the middle after four days. Grass, cardboard, coffee from the station kiosk, \
                     and patience.",
                ],
            },
            Post { by: "mei", when: "Sunday, 10:45", text: &["Mine is a box of apple peel with ambitions."] },
            Post {
                by: "anna",
                when: "Sunday, 12:10",
                text: &["Raj, may I have a bucket as a starter? I pay in courgettes."],
            },
        ],
    },
];

pub(super) const TALKS: &[Talk] = &[
    Talk {
        minutes_ago: 12,
        unread: 2,
        lines: &[
            ("anna", "Hi Tom! Are the folding tables still in your shed?"),
            ("tom", "Three of them, yes. The fourth has lost a leg."),
            ("anna", "Three will do. Can you bring them over on Sunday before ten?"),
            ("tom", "Sure, if you help me carry."),
            ("tom", "And take some tomatoes off me, please. I am up to my ears in seedlings."),
        ],
    },
    Talk {
        minutes_ago: 95,
        unread: 1,
        lines: &[
            ("raj", "Your bucket of starter is by the gate."),
            ("anna", "You are wonderful. It is steaming!"),
            ("raj", "That is pride. Turn it on Thursday."),
        ],
    },
    Talk {
        minutes_ago: 26 * 60,
        unread: 0,
        lines: &[
            ("mei", "I can stamp the envelopes for the swap. How many do we need?"),
            ("anna", "Sixty or so? I pay for the paper."),
            ("mei", "No need, the library gave me a box."),
            ("anna", "Then cake."),
        ],
    },
    Talk {
        minutes_ago: 50 * 60,
        unread: 0,
        lines: &[
            ("tom", "Hamish, what did the lock cost?"),
            ("hamish", "Eighteen fifty. I put the receipt in the box."),
            ("tom", "Paid. Thank you for doing it so fast."),
        ],
    },
    Talk {
        minutes_ago: 3 * 24 * 60,
        unread: 0,
        lines: &[
            ("amara", "Hello! Ingrid said you might have string for beans?"),
            ("anna", "Plenty. It hangs behind the water butt, help yourself."),
            ("amara", "Thank you, and nice to meet you. Plot 14, with the blue door."),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_author_is_a_member() {
        let posters = THREADS.iter().flat_map(|thread| thread.posts).map(|post| post.by);
        let talkers = TALKS.iter().flat_map(|talk| talk.lines).map(|(by, _)| *by);
        for id in posters.chain(talkers) {
            assert!(member(id).is_some(), "{id}");
        }
    }

    #[test]
    fn every_conversation_has_two_authors_and_one_unread_side() {
        for talk in TALKS {
            let mut sides: Vec<&str> = talk.lines.iter().map(|(by, _)| *by).collect();
            let tail: Vec<&str> = sides.iter().rev().take(talk.unread).copied().collect();
            assert!(tail.windows(2).all(|two| two[0] == two[1]), "{tail:?}");
            sides.sort_unstable();
            sides.dedup();
            assert_eq!(sides.len(), 2);
        }
    }

    #[test]
    fn ids_and_addresses_are_plain() {
        for id in MEMBERS.iter().map(|member| member.id).chain(THREADS.iter().map(|thread| thread.slug)) {
            assert!(id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{id}");
        }
        assert_ne!(partner(&MEMBERS[0]).id, MEMBERS[0].id);
    }
}
