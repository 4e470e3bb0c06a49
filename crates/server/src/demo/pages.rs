//! The pages of the demo forum: a separate site, which uses Kith by one script tag only.

use super::html::{Html, text};
use super::people::{MEMBERS, Member, THREADS, Thread, partner};

/// The visitor of a page.
#[derive(Clone, Copy)]
pub(super) enum Visitor {
    Member(&'static Member),
    Guest,
}

impl Visitor {
    /// Prefix of the visitor's pages, without a slash at the end.
    fn base(self) -> String {
        match self {
            Visitor::Member(member) => format!("/as/{}", member.id),
            Visitor::Guest => "/visit".to_owned(),
        }
    }
}

/// Values that differ from request to request.
pub(super) struct Context<'a> {
    pub(super) site: &'a str,
    pub(super) nonce: &'a str,
}

/// `/`: the choice of a member.
pub(super) fn entrance() -> Html {
    let cards: Html = MEMBERS
        .iter()
        .map(|member| {
            Html::from(format_args!(
                "<li><a class=\"card\" href=\"/as/{id}/\"><img src=\"{avatar}\" width=\"56\" height=\"56\" alt=\"\">\
                 <span><strong>Continue as {first}</strong><small>{about}</small></span></a></li>",
                id = member.id,
                avatar = member.avatar(),
                first = text(member.first_name()),
                about = text(member.about),
            ))
        })
        .collect();
    let main = Html::from(format_args!(
        "<main class=\"entrance\">\
         <h1>Millbrook Allotments</h1>\
         <p class=\"lead\">A small forum that uses Kith, so that you can try it. Choose who you are; on the next page, one \
         click opens a second window as somebody else, and the two of you can talk.</p>\
         <ul class=\"cards\">{cards}</ul>\
         <p><a href=\"/visit/\">Or look around as a guest</a></p>\
         <p class=\"fine\">Nobody here is real. On a real site you would be signed in already, and Kith would learn who you \
         are from a token that the site signs.</p></main>"
    ));
    document("Millbrook Allotments", &Html::default(), &main)
}

/// The list of threads.
pub(super) fn index(visitor: Visitor, context: &Context<'_>) -> Html {
    let base = visitor.base();
    let rows: Html = THREADS
        .iter()
        .map(|thread| {
            let last = thread.posts.last();
            let author = thread.posts.first().and_then(|post| super::people::member(post.by));
            Html::from(format_args!(
                "<li class=\"row\">{avatar}<div><a class=\"title\" href=\"{base}/thread/{slug}\">{title}</a>\
                 <p class=\"meta\">{board} · by {author} · last post {when}</p></div>\
                 <span class=\"count\" title=\"Posts\">{count}</span></li>",
                avatar = author.map_or_else(Html::default, |author| face(author, 40)),
                slug = thread.slug,
                title = text(thread.title),
                board = text(thread.board),
                author = text(author.map_or("", |author| author.name)),
                when = text(last.map_or("", |post| post.when)),
                count = thread.posts.len(),
            ))
        })
        .collect();
    let content = Html::from(format_args!("<h1>Latest threads</h1><ul class=\"rows\">{rows}</ul>"));
    forum_page("Latest threads", visitor, context, &content)
}

/// One thread with its posts.
pub(super) fn thread(thread: &Thread, visitor: Visitor, context: &Context<'_>) -> Html {
    let posts: Html = thread
        .posts
        .iter()
        .filter_map(|post| Some((post, super::people::member(post.by)?)))
        .map(|(post, author)| {
            let paragraphs: Html =
                post.text.iter().map(|line| Html::from(format_args!("<p>{}</p>", text(line)))).collect();
            Html::from(format_args!(
                "<li class=\"post\">{avatar}<article><header><strong>{name}</strong>\
                 <span class=\"meta\">{when}</span></header>{paragraphs}{write}</article></li>",
                avatar = face(author, 48),
                name = text(author.name),
                when = text(post.when),
                write = write_button(author, visitor),
            ))
        })
        .collect();
    let content = Html::from(format_args!(
        "<p class=\"crumbs\"><a href=\"{base}/\">Latest threads</a> › {board}</p><h1>{title}</h1>\
         <ol class=\"posts\">{posts}</ol>",
        base = visitor.base(),
        board = text(thread.board),
        title = text(thread.title),
    ));
    forum_page(thread.title, visitor, context, &content)
}

/// The messenger as a page of its own (`data-mode="inbox"`).
pub(super) fn full_page(member: &'static Member, context: &Context<'_>) -> Html {
    let main = Html::from(format_args!(
        "<main id=\"kith\" class=\"full\"><h1 class=\"hidden\">Messages of {}</h1></main>",
        text(member.first_name())
    ));
    document(
        &format!("Messages of {}", member.first_name()),
        &embed(Visitor::Member(member), context, "inbox"),
        &main,
    )
}

/// The page for missing addresses.
pub(super) fn not_found() -> Html {
    let main = Html::from(format_args!(
        "<main class=\"entrance\"><h1>There is nothing here</h1>\
         <p class=\"lead\">Perhaps somebody dug it up. <a href=\"/\">Back to the entrance</a></p></main>"
    ));
    document("Not found", &Html::default(), &main)
}

/// The one tag that a site adds to its pages. The nonce is that of the page's own policy.
fn embed(visitor: Visitor, context: &Context<'_>, mode: &str) -> Html {
    let token_url = match visitor {
        Visitor::Member(member) => Html::from(format_args!(
            " data-user=\"{id}\" data-token-url=\"/as/{id}/kith-token\"",
            id = member.id
        )),
        Visitor::Guest => Html::default(),
    };
    Html::from(format_args!(
        "<script async src=\"/kith.js\" data-site=\"{site}\"{token_url} data-mode=\"{mode}\" nonce=\"{nonce}\"></script>\
         <script defer src=\"/demo/page.js\" nonce=\"{nonce}\"></script>",
        site = text(context.site),
        nonce = text(context.nonce),
    ))
}

fn forum_page(title: &str, visitor: Visitor, context: &Context<'_>, content: &Html) -> Html {
    let body = Html::from(format_args!(
        "{bar}<header class=\"top\"><a class=\"brand\" href=\"{base}/\">Millbrook Allotments</a>\
         <nav aria-label=\"Forum\"><a href=\"{base}/\">Threads</a><a href=\"{base}/thread/seed-swap\">Seed swap</a></nav>\
         {me}</header>\
         <div class=\"columns\"><main>{content}</main>{side}</div>\
         <footer class=\"bottom\">Millbrook Allotment Society, founded 1921. This forum is the demo of Kith; everybody in it \
         is invented.</footer>",
        bar = demo_bar(visitor),
        base = visitor.base(),
        me = me(visitor),
        side = sidebar(visitor),
    ));
    document(title, &embed(visitor, context, "bubble"), &body)
}

fn me(visitor: Visitor) -> Html {
    match visitor {
        Visitor::Member(member) => Html::from(format_args!(
            "<span class=\"me\">{avatar}<span>{name}</span></span>",
            avatar = face(member, 32),
            name = text(member.name),
        )),
        Visitor::Guest => Html::from(format_args!("<span class=\"me\"><span>Guest</span></span>")),
    }
}

/// The bar of the demo: the visitor's name, and a link for the other window.
fn demo_bar(visitor: Visitor) -> Html {
    let (you, second, full) = match visitor {
        Visitor::Member(member) => (
            member.first_name(),
            partner(member),
            Html::from(format_args!("<a href=\"/full/{}\">Full page</a>", member.id)),
        ),
        Visitor::Guest => ("a guest", &MEMBERS[0], Html::default()),
    };
    let others: Html = MEMBERS
        .iter()
        .filter(|other| !matches!(visitor, Visitor::Member(member) if member.id == other.id))
        .map(|other| Html::from(format_args!("<li>{}</li>", window_link(other, other.name))))
        .collect();
    Html::from(format_args!(
        "<aside class=\"demo\" aria-label=\"Demo\"><span>Demo: you are <strong>{you}</strong></span>{second}\
         <details><summary>Somebody else</summary><ul>{others}</ul></details>{full}<a href=\"/\">Start page</a></aside>",
        you = text(you),
        second = window_link(second, &format!("Open a second window as {}", second.first_name())),
    ))
}

/// A link that page.js turns into a window of its own; without script it is a new tab.
fn window_link(member: &Member, label: &str) -> Html {
    Html::from(format_args!(
        "<a href=\"/as/{id}/\" target=\"demo-{id}\" data-window>{label}</a>",
        id = member.id,
        label = text(label),
    ))
}

fn sidebar(visitor: Visitor) -> Html {
    let people: Html = MEMBERS
        .iter()
        .filter(|other| !matches!(visitor, Visitor::Member(member) if member.id == other.id))
        .map(|other| {
            Html::from(format_args!(
                "<li>{avatar}<span><strong>{name}</strong><small>{about}</small></span>{write}</li>",
                avatar = face(other, 36),
                name = text(other.name),
                about = text(other.about),
                write = write_button(other, visitor),
            ))
        })
        .collect();
    Html::from(format_args!(
        "<aside class=\"side\" aria-label=\"About the forum\"><section><h2>This week</h2><p>Seed swap on Sunday at ten, by the big water butt. Bring \
         envelopes, take cake.</p></section><section><h2>Members</h2><ul class=\"people\">{people}</ul></section></aside>"
    ))
}

/// Opens a conversation from the page's own markup, through `Kith.open`.
fn write_button(to: &Member, visitor: Visitor) -> Html {
    match visitor {
        Visitor::Member(member) if member.id != to.id => Html::from(format_args!(
            "<button type=\"button\" class=\"write\" data-kith-open=\"{id}\">Message <span class=\"hidden\">to {first}\
             </span></button>",
            id = to.id,
            first = text(to.first_name()),
        )),
        _ => Html::default(),
    }
}

fn face(member: &Member, size: u32) -> Html {
    Html::from(format_args!(
        "<img class=\"face\" src=\"{}\" width=\"{size}\" height=\"{size}\" alt=\"\">",
        member.avatar()
    ))
}

const DESCRIPTION: &str =
    "A small forum of allotment gardeners that shows Kith, a messenger for the members of any website.";

fn document(title: &str, scripts: &Html, body: &Html) -> Html {
    Html::from(format_args!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1, viewport-fit=cover\">\
         <meta name=\"description\" content=\"{DESCRIPTION}\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <link rel=\"icon\" href=\"/demo/icon.svg\" type=\"image/svg+xml\">\
         <link rel=\"stylesheet\" href=\"/demo/style.css\">{scripts}</head><body>{body}</body></html>",
        title = text(title),
    ))
}
