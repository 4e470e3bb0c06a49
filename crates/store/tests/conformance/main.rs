//! What the port promises, sentence by sentence, of every store.

#[path = "../asking/mod.rs"]
mod asking;
mod blocks;
mod changes;
mod contacts;
mod conversations;
mod devices;
mod erase;
mod export;
mod files;
mod guard;
mod imports;
mod links;
mod merge;
mod messages;
mod notify;
mod people;
mod profiles;
mod retention;
mod rich;
mod room_requests;
mod rooms;
mod safety;
mod search;
mod sites;
mod stickers;
mod users;
mod views;

use chat::{ContactState, Position, Relation, SiteId, Store, UserId};
use store::{Options, Sqlite};

use self::asking::{Directory, NOW, add_site, ask, put};

macro_rules! every_store {
    ($($topic:ident { $($test:ident,)* })*) => {
        mod in_memory {
            $(mod $topic { $(#[test] fn $test() { crate::$topic::$test(&crate::Sqlite::in_memory()); })* })*
        }
        mod sqlite {
            $(mod $topic {
                $(#[test] fn $test() {
                    let directory = crate::Directory::quick();
                    let store = crate::Sqlite::open(&directory.file(), crate::Options::default());
                    crate::$topic::$test(&store.expect("it opens"));
                })*
            })*
        }
    };
}

every_store! {
    users {
        a_user_is_created_on_first_sight_and_updated_where_the_profile_differs,
        a_position_moves_only_where_something_changed,
        presence_and_bans_are_remembered,
        a_one_time_token_works_once_until_it_expires,
    }
    messages {
        seqs_are_gap_free_when_many_write_at_once,
        completions_come_in_the_order_of_their_positions,
        a_repeated_client_id_changes_nothing_and_answers_as_then,
        a_client_id_is_known_for_as_long_as_its_message,
        an_answer_to_a_message_that_is_not_there_answers_none,
        history_is_paged_in_both_directions,
        history_begins_at_a_time,
    }
    changes {
        an_edit_is_of_ones_own_message_and_moves_nothing_but_the_body,
        what_is_left_of_a_call_is_not_edited,
        a_deleted_message_keeps_its_place_and_nothing_else,
        the_same_change_again_changes_nothing,
        what_is_not_there_cannot_change,
        reactions_are_in_the_order_in_which_they_came,
        more_edits_do_not_push_out_former_bodies,
        a_mention_counts_by_the_body_as_it_is_now,
        a_difference_has_old_messages_that_changed,
        more_changes_than_are_told_make_a_conversation_forgotten,
        in_a_room_its_rules_hold_and_all_members_are_told,
        pinned_messages_are_listed_until_they_are_deleted,
        in_a_room_only_those_who_keep_order_pin,
    }
    conversations {
        a_message_moves_the_senders_markers_and_counts_for_the_other,
        markers_never_go_back_and_never_pass_the_newest,
        a_mention_counts_until_it_is_read,
        a_message_brings_an_archived_conversation_back_for_both,
        a_change_is_of_one_member_and_none_without_a_conversation,
        the_list_is_pinned_first_then_by_activity_and_pages_are_stable,
        what_is_marked_as_unread_is_so_until_it_is_read_on,
        a_draft_is_of_one_member_and_the_last_one_counts,
        so_many_are_pinned_and_no_more,
        lists_have_the_unread_ones_and_those_with_a_mention,
    }
    contacts {
        a_relation_has_two_sides_and_a_limit,
        contacts_are_listed_by_name_and_follow_a_new_name,
        contacts_of_many_are_those_who_have_agreed,
    }
    people {
        people_are_found_by_the_start_of_any_word,
        people_are_found_among_many,
    }
    devices {
        a_device_is_kept_until_it_is_signed_out,
        only_the_devices_used_last_are_kept,
    }
    erase {
        whoever_is_erased_is_nobody_at_once,
        others_are_told_in_slices_and_keep_their_conversations,
        messages_go_with_what_was_kept_of_them,
        messages_stay_as_nobodys_where_they_shall,
        a_room_has_an_owner_when_its_only_one_goes,
        the_old_id_is_somebody_new,
        each_message_that_names_the_user_gets_a_new_version,
        a_merged_guests_messages_get_new_versions,
        an_erased_user_takes_the_room_pictures_they_uploaded_along,
    }
    export {
        all_that_was_said_to_one_or_by_one_is_in_it_once,
    }
    imports {
        what_is_imported_is_there_as_it_was_and_read,
        a_second_time_changes_nothing,
        a_room_comes_with_its_picture_and_size,
        what_has_gone_does_not_come_back,
        a_wrong_line_costs_no_other,
        an_older_message_is_refused_or_comes_after_the_newer_ones,
        a_member_with_unread_messages_keeps_them,
        the_floor_rises_with_each_import_until_it_is_published,
        any_import_repeated_is_the_same,
    }
    stickers {
        a_site_has_so_many_and_no_more,
        a_message_is_a_sticker_for_as_long_as_the_site_has_it,
        a_sticker_that_is_deleted_leaves_nothing,
        a_stranger_may_begin_with_one,
    }
    retention {
        the_oldest_go_and_numbers_stay,
        nothing_is_left_where_all_is_old,
        a_room_may_keep_for_another_time,
    }
    blocks {
        a_blocker_leaves_private_rooms_of_the_blocked_alone,
        mentions_and_notices_pass_over_blocked_authors,
        search_and_threads_pass_over_blocked_authors,
        a_direct_conversation_knows_of_a_block_on_either_side,
        a_conversation_that_begins_behind_a_block_knows_of_it,
        the_first_page_of_contacts_has_all_blocked_users,
    }
    merge {
        a_guest_goes_on_as_a_member,
        it_is_done_once_and_only_with_guests,
        a_guests_profile_changes_no_member,
        a_ban_of_a_guest_holds_for_the_member,
    }
    profiles {
        what_a_member_says_is_kept_until_it_is_taken_away,
        what_a_member_chooses_is_read_with_the_row,
        a_name_of_ones_own_outlasts_tokens_until_it_is_given_back,
    }
    views {
        a_new_user_signs_in_to_an_empty_view_and_a_known_one_to_theirs,
        whoever_is_not_met_is_not_told,
        what_is_committed_after_met_is_not_in_doubt,
        a_difference_has_what_changed_and_nothing_else,
        a_difference_tells_who_was_taken_off,
        a_gap_says_where_the_sent_messages_begin,
        too_much_change_a_strange_epoch_or_the_future_reset,
    }
    rooms {
        a_message_counts_for_each_member_and_touches_none,
        a_pages_room_is_made_once_by_whoever_writes_first,
        a_private_room_does_not_exist_for_who_is_not_in_it,
        roles_slow_mode_and_freeze_hold_from_the_next_message_on,
        who_is_put_out_hears_of_it_and_who_is_banned_stays_out,
        a_difference_has_rooms_that_changed_and_their_messages,
        there_are_only_so_many_members_and_rooms,
        members_and_rooms_are_listed_by_name,
        members_of_small_rooms_see_how_far_the_others_are,
        an_archived_room_comes_back_with_the_next_message,
        a_mute_and_a_ban_end_by_themselves,
        a_mute_outlasts_leaving,
        who_keeps_order_sees_who_is_muted_or_banned,
        a_muted_member_who_comes_back_by_a_link_or_a_request_is_muted,
        a_reason_is_for_the_member_and_the_record,
        a_room_takes_no_more_than_its_own_limit,
        members_are_read_with_the_rows_of_those_asked_for,
    }
    room_requests {
        a_request_opens_the_room_until_it_is_declined,
        a_member_who_left_is_asked_by_others_only,
        requests_end_with_blocks_withdrawals_and_bans,
        a_user_is_asked_so_often_and_a_member_asks_so_often,
    }
    links {
        a_link_is_used_as_often_as_it_says,
        who_keeps_order_has_all_of_them,
        what_ends_by_time_or_number_makes_room,
        a_member_has_a_share_of_a_rooms_links,
        it_ends_with_the_right_of_who_has_made_it,
        it_is_of_one_site_and_goes_with_it,
        it_goes_by_the_name_of_now,
    }
    safety {
        a_stranger_asks_until_the_other_one_answers,
        a_request_has_no_links_now_or_later,
        nobody_is_told_whether_a_request_was_read,
        who_is_put_away_is_not_heard_of,
        contacts_wait_for_no_answer,
        a_user_begins_so_many_a_day,
        a_report_keeps_what_was_said,
        a_report_keeps_what_was_said_before,
        a_report_is_taken_closed_and_opened_again,
        nobody_decides_a_report_about_themselves,
        there_are_only_so_many_open_reports_of_one,
        a_sanction_holds_until_its_end_and_is_told,
        a_warning_stays_until_it_is_seen,
        nobody_acts_on_their_equals,
        moderators_of_the_site_keep_order_in_its_rooms,
        all_that_is_done_is_recorded,
        small_acts_of_room_moderators_are_recorded,
        settings_are_of_one_site,
        a_token_sets_a_role_that_nobody_decided_since,
        only_admins_erase_others,
        reports_about_others_keep_no_words_of_an_erased_user,
        sanctions_hold_for_the_next_user_with_the_same_id,
        a_site_is_changed_by_who_may_and_it_is_recorded,
    }
    guard {
        a_message_waits_beside_the_log,
        what_is_refused_stays_until_it_is_seen,
        the_shadow_keeps_the_newest,
        nothing_is_held_where_one_may_not_write,
        a_filter_reports_what_it_has_seen,
        a_level_rises_and_stays_where_it_is_set,
        devices_are_banned_with_their_user,
        settings_change_where_they_are_stored,
    }
    search {
        words_are_found_in_ones_own_conversations_only,
        hits_are_paged_newest_first,
        a_message_is_found_by_its_body_of_now,
        rooms_are_searched_by_their_members,
    }
    files {
        a_file_goes_out_with_a_message_and_is_read_with_it,
        a_repeated_message_finds_its_files_linked_to_itself,
        only_ones_own_for_this_conversation_go_out,
        strangers_send_files_once_they_were_answered,
        bytes_are_counted_until_a_file_goes,
        announced_bytes_take_no_room_until_they_arrive,
        an_upload_without_bytes_ends_before_others,
        nobody_has_any_number_of_files_that_wait,
        a_deleted_message_takes_its_files_with_it,
        what_is_in_no_message_grows_stale,
        a_room_takes_files_of_those_who_may_write,
        a_room_has_one_picture_which_counts_until_it_is_replaced,
        who_keeps_order_may_remove_the_picture_of_a_room,
    }
    notify {
        a_browser_is_of_one_user_at_a_time,
        only_the_newest_browsers_are_kept,
        a_device_that_is_signed_out_takes_no_notifications,
        what_is_chosen_is_kept_and_the_rest_stays,
        the_facts_are_of_ones_own_conversations,
        missed_calls_are_counted_among_the_unread,
        a_sites_key_is_made_once_and_goes_with_the_site,
        a_digest_is_due_once_a_day_at_most_and_as_late_as_is_wanted,
    }
    rich {
        a_vote_takes_the_place_of_the_one_before,
        a_poll_ends_and_is_closed,
        nobody_learns_who_voted_in_an_anonymous_poll,
        a_first_message_to_a_stranger_bears_nothing,
        a_forwarded_message_has_its_files_and_its_author,
        files_are_not_forwarded_to_strangers,
        an_erased_users_files_go_from_forwarded_messages,
        an_erased_users_files_go_although_the_original_was_deleted_before,
        a_reply_is_a_message_of_the_room,
        a_thread_is_read_page_by_page,
        a_gap_brings_the_replies_of_threads,
        who_follows_a_thread_sees_what_is_unread,
        one_message_is_for_who_may_read_it,
        a_preview_is_put_on_once_and_goes_with_its_link,
        gathered_changes_are_published_at_a_fresh_position,
    }
    sites {
        sites_are_kept_whole_and_secrets_are_newest_first,
        the_revision_tells_of_sites_and_bans_only,
        sites_never_meet,
        a_removed_site_leaves_nothing,
    }
}

pub(crate) fn two_users(store: &dyn Store) -> (SiteId, UserId, UserId) {
    let site = add_site(store, "forum");
    (site, put(store, site, "ann"), put(store, site, "bob"))
}

pub(crate) fn state(of_a: ContactState, of_b: ContactState) -> Relation {
    Relation { of_a, of_b }
}

pub(crate) fn relate(store: &dyn Store, a: UserId, b: UserId, relation: Relation) -> Option<Position> {
    ask(|done| store.put_relation(a, b, relation, 100, NOW, done))
}

pub(crate) const FRIENDS: Relation = Relation { of_a: ContactState::Contact, of_b: ContactState::Contact };
pub(crate) const STRANGERS: Relation = Relation { of_a: ContactState::None, of_b: ContactState::None };
