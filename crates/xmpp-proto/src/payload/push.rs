//! Push notifications (XEP-0357): a server notifies a client's push service of new messages.

use super::data_forms::{self, Field, Form, FormKind};
use super::pubsub::PUBLISH_OPTIONS;
use crate::jid::Jid;
use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// The type of the form in a notification (§11.3.1).
const SUMMARY: &str = "urn:xmpp:push:summary";

#[derive(Clone, Debug, PartialEq)]
pub enum Request<'a> {
    /// §5: notify this service. The options go along with each notification.
    Enable { service: Jid, node: Option<&'a str>, options: Option<Form<'a>> },
    /// §6: of the service, one node or all.
    Disable { service: Jid, node: Option<&'a str> },
}

impl<'a> Request<'a> {
    /// Reads the payload of a set. None: it is of something else.
    pub fn of(payload: Element<'a>) -> Option<Result<Request<'a>, Condition>> {
        if payload.ns() != ns::PUSH {
            return None;
        }
        let service = payload.attr("jid").ok_or(Condition::BadRequest);
        let service = service.and_then(|jid| Jid::parse(jid).map_err(|_| Condition::JidMalformed));
        let node = payload.attr("node");
        Some(service.and_then(|service| match payload.name() {
            "enable" => {
                let options = Form::within(payload, PUBLISH_OPTIONS)?;
                Ok(Request::Enable { service, node, options })
            }
            "disable" => Ok(Request::Disable { service, node }),
            _ => Err(Condition::BadRequest),
        }))
    }
}

/// §7: the content for the push service.
#[derive(Clone, Copy, Debug)]
pub struct Notification<'a> {
    pub node: Option<&'a str>,
    pub messages: u32,
    /// Tells the service who writes, so only if the user wants that (§9).
    pub sender: Option<&'a str>,
}

impl Notification<'_> {
    /// Writes the payload of the set to the service. `options` are the fields of the enabling request.
    pub fn write(&self, out: &mut Vec<u8>, options: Option<&Form<'_>>) {
        Open::new(out, "pubsub").attr("xmlns", ns::PUBSUB).children(|out| {
            Open::new(out, "publish").opt("node", self.node).children(|out| {
                Open::new(out, "item").children(|out| {
                    Open::new(out, "notification")
                        .attr("xmlns", ns::PUSH)
                        .children(|out| self.write_summary(out));
                });
            });
            if let Some(options) = options {
                Open::new(out, "publish-options").children(|out| {
                    data_forms::write(out, FormKind::Submit, PUBLISH_OPTIONS, |out| {
                        for name in options.names() {
                            let values: Vec<&str> =
                                options.values(name).iter().map(|value| &**value).collect();
                            Field::new(name, &values).write(out);
                        }
                    });
                });
            }
        });
    }

    fn write_summary(&self, out: &mut Vec<u8>) {
        data_forms::write(out, FormKind::Submit, SUMMARY, |out| {
            Field::new("message-count", &[&self.messages.to_string()]).write(out);
            if let Some(sender) = self.sender {
                Field::new("last-message-sender", &[sender]).write(out);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn requests_are_read() {
        let service = || Jid::parse("push.example").unwrap();
        let tree = read("<enable xmlns='urn:xmpp:push:0' jid='push.example' node='n'/>");
        let enable = Request::Enable { service: service(), node: Some("n"), options: None };
        assert_eq!(Request::of(tree.root()), Some(Ok(enable)));
        let tree = read("<disable xmlns='urn:xmpp:push:0' jid='push.example'/>");
        assert_eq!(Request::of(tree.root()), Some(Ok(Request::Disable { service: service(), node: None })));
        for (xml, condition) in [
            ("<enable xmlns='urn:xmpp:push:0'/>", Condition::BadRequest),
            ("<enable xmlns='urn:xmpp:push:0' jid='@'/>", Condition::JidMalformed),
            ("<other xmlns='urn:xmpp:push:0' jid='push.example'/>", Condition::BadRequest),
        ] {
            assert_eq!(Request::of(read(xml).root()), Some(Err(condition)), "{xml}");
        }
        assert_eq!(Request::of(read("<enable xmlns='urn:xmpp:carbons:2'/>").root()), None);
    }

    #[test]
    fn a_notification_repeats_the_options() {
        let tree = read(&format!(
            "<enable xmlns='urn:xmpp:push:0' jid='push.example' node='n'><x xmlns='jabber:x:data' type='submit'>\
             <field var='FORM_TYPE'><value>{PUBLISH_OPTIONS}</value></field>\
             <field var='secret'><value>e&amp;r</value></field></x></enable>"
        ));
        let Some(Ok(Request::Enable { node, options, .. })) = Request::of(tree.root()) else { panic!() };
        let notification = Notification { node, messages: 1, sender: None };
        let xml = written(|out| notification.write(out, options.as_ref()));
        assert_eq!(
            xml,
            format!(
                "<pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='n'><item>\
                 <notification xmlns='urn:xmpp:push:0'><x xmlns='jabber:x:data' type='submit'>\
                 <field var='FORM_TYPE' type='hidden'><value>urn:xmpp:push:summary</value></field>\
                 <field var='message-count'><value>1</value></field></x></notification></item></publish>\
                 <publish-options><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE' type='hidden'>\
                 <value>{PUBLISH_OPTIONS}</value></field><field var='secret'><value>e&amp;r</value></field></x>\
                 </publish-options></pubsub>"
            )
        );
    }
}
