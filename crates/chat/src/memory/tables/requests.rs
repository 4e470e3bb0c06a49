//! Message requests in memory: the plain reading of what `RequestStore` promises.

use super::{Conversation, Tables, member_index};
use crate::{
    Append, ConversationId, Refusal, Request, RequestAnswer, RequestAnswered, RequestRules, RequestTold,
    Requested, UserId, first_contact,
};

pub(super) const DAY_MS: u64 = 86_400_000;

impl Tables {
    pub(in crate::memory) fn append_request(
        &mut self,
        append: Append,
        rules: RequestRules,
    ) -> Result<Requested, Refusal> {
        let (id, from, day) = (append.conversation, append.from, append.time.0 / DAY_MS);
        if self.message_by_client_id.contains_key(&(from, append.client_id.clone())) {
            let appended = self.append(append);
            let pending = self.asks(appended.conversation, from);
            return Ok(Requested { appended, pending, told: RequestTold::Message, files: Vec::new() });
        }
        let me = member_index(id, from).expect("the sender is a member");
        let (seq, asking) = match self.conversations.get(&id) {
            None => (0, Some((me, false))),
            Some(conversation) => {
                (conversation.messages.len(), conversation.asking.filter(|(by, _)| *by == me))
            }
        };
        if asking.is_some() {
            if seq >= rules.messages as usize {
                return Err(Refusal::RequestPending);
            }
            if seq == 0 {
                rules.begin?;
            }
            let (last, count) = self.requests.get(&from).copied().unwrap_or_default();
            let today = if last == day { count } else { 0 };
            if seq == 0 && today >= rules.per_day {
                return Err(Refusal::TooManyRequests);
            }
            let attachments = append.rich.as_ref().map_or(0, |rich| rich.attachments());
            first_contact(&append.body, attachments, rules.links)?;
            if seq == 0 {
                self.requests.insert(from, (day, today + 1));
            }
        }
        self.check_rich(id, from, append.rich.as_deref())?;
        let rich = append.rich.clone();
        let appended = self.append(append);
        let (files, _) = self.put_rich(id, appended.seq, rich, &[]);
        let conversation = self.conversations.get_mut(&id).expect("it was just written to");
        conversation.asking = asking;
        let is_put_away = asking.is_some_and(|(_, dismissed)| dismissed);
        conversation.members[1 - me].archived = is_put_away;
        let told = match asking {
            Some(_) if seq == 0 => {
                let other = id.other(from).expect("a member of a pair has another");
                let row = self.conversation(other, id).expect("it was just written to");
                RequestTold::Request(Box::new(row))
            }
            Some(_) if is_put_away => RequestTold::Nothing,
            Some(_) | None => RequestTold::Message,
        };
        Ok(Requested { appended, pending: asking.is_some(), told, files })
    }

    fn asks(&self, id: ConversationId, user: UserId) -> bool {
        let mine = member_index(id, user).zip(self.conversations.get(&id));
        mine.is_some_and(|(me, conversation)| conversation.request(me) == Some(Request::Sent))
    }

    pub(in crate::memory) fn answer_request(
        &mut self,
        id: ConversationId,
        user: UserId,
        answer: RequestAnswer,
    ) -> Result<RequestAnswered, Refusal> {
        let me = member_index(id, user).ok_or(Refusal::NoSuchConversation)?;
        let number = self.number + 1;
        let conversation = self.conversations.get_mut(&id).ok_or(Refusal::NoSuchConversation)?;
        let before = conversation.asking;
        if before.is_some_and(|(by, _)| by == me) {
            return Err(Refusal::NotAllowed);
        }
        let after = match answer {
            RequestAnswer::Accept => None,
            RequestAnswer::Dismiss => before.map(|(by, _)| (by, true)),
        };
        let changed = before != after;
        if changed {
            conversation.asking = after;
            conversation.members[me].archived = after.is_some();
            conversation.members[me].changed = number;
            if after.is_none() {
                conversation.members[1 - me].changed = number;
            }
            self.number = number;
        }
        let other = id.other(user).expect("a member of a pair has another");
        let row = self.conversation(user, id).expect("it is there");
        let theirs = if changed && after.is_none() { self.conversation(other, id) } else { None };
        Ok(RequestAnswered { row, position: self.position(), theirs, changed })
    }

    /// Contacts need no accepted request.
    pub(super) fn agreed(&mut self, a: UserId, b: UserId) {
        let number = self.number;
        let direct = ConversationId::direct(a, b).and_then(|id| self.conversations.get_mut(&id));
        if let Some(conversation) = direct.filter(|conversation| conversation.asking.is_some()) {
            conversation.asking = None;
            conversation.members.iter_mut().for_each(|member| member.changed = number);
        }
    }
}

impl Conversation {
    pub(super) fn request(&self, me: usize) -> Option<Request> {
        self.asking.map(|(by, _)| if by == me { Request::Sent } else { Request::Received })
    }
}
