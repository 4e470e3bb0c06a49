//! The promises of the port, each as a test for every store.

mod app_passwords;
mod archive;
#[path = "../asking/mod.rs"]
mod asking;
mod blocks;
mod changed_views;
mod changes;
mod contacts;
mod conversations;
mod devices;
mod erase;
mod export;
mod extensions;
mod files;
mod guard;
mod imports;
mod items;
mod links;
mod merge;
mod messages;
mod notify;
mod own_pictures;
mod people;
#[path = "../postgres/mod.rs"]
mod postgres;
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

use chat::{Position, Relation, Side, SiteId, Slot, Store, UserId};
use store::{Options, Sqlite};

use self::asking::{Directory, NOW, add_site, ask, put};

/// On PostgreSQL. The other tests of the store use the first slot.
const SLOT: Slot = Slot(3);

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
        mod postgresql {
            $(mod $topic {
                $(#[test] fn $test() { crate::$topic::$test(&crate::postgres::store_of(crate::SLOT)); })*
            })*
        }
    };
}

every_store! {
    users {
        a_user_is_created_at_the_first_sign_in_and_updated_if_the_profile_differs,
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
    archive {
        a_page_has_all_messages_of_a_range,
        rooms_belong_to_the_whole_archive,
        messages_of_others_are_not_in_it,
        a_position_beyond_the_newest_is_refused,
        a_pending_request_is_left_out,
        removed_messages_are_left_out,
        messages_are_found_by_their_names,
    }
    extensions {
        an_extension_is_read_wherever_its_message_is,
        an_extension_of_a_room_message_is_read_by_its_members,
        a_change_of_the_body_replaces_the_extension,
        a_held_message_keeps_its_extension,
        a_message_request_has_no_links_in_its_extension,
        a_long_client_id_is_known_again,
        an_export_has_the_extensions,
        an_imported_message_has_no_extension,
        an_erased_user_leaves_no_extension,
        a_guest_who_becomes_a_member_keeps_their_extensions,
        an_expired_message_takes_its_extension_along,
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
        too_many_changes_make_a_device_reload_the_conversation,
        changes_in_a_room_obey_its_rules_and_reach_all_members,
        pinned_messages_are_listed_until_they_are_deleted,
        only_moderators_pin_in_a_room,
    }
    conversations {
        a_message_moves_the_senders_markers_and_counts_for_the_other,
        markers_never_go_back_and_never_pass_the_newest,
        a_mention_counts_until_it_is_read,
        a_message_brings_an_archived_conversation_back_for_both,
        a_view_changes_for_one_member_and_only_with_a_conversation,
        the_list_is_pinned_first_then_by_activity_and_pages_are_stable,
        a_conversation_stays_marked_as_unread_until_the_next_read,
        a_draft_belongs_to_one_member_and_the_last_one_counts,
        so_many_are_pinned_and_no_more,
        lists_have_the_unread_ones_and_those_with_a_mention,
    }
    contacts {
        a_relation_has_two_sides_and_a_limit,
        contacts_are_listed_by_name_and_follow_a_new_name,
        contacts_of_many_are_those_who_have_agreed,
        own_names_and_groups_last_as_long_as_the_entry,
        changed_contacts_are_read_by_position,
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
        an_erased_user_loses_the_identity_at_once,
        users_of_other_servers_without_an_answer_are_found,
        slices_publish_the_new_id_and_others_keep_their_conversations,
        erased_messages_take_their_former_bodies_with_them,
        messages_stay_without_an_author_if_requested,
        a_room_has_an_owner_when_its_only_one_goes,
        the_old_id_belongs_to_a_new_user,
        each_message_that_names_the_user_gets_a_new_version,
        a_merged_guests_messages_get_new_versions,
        an_erased_user_takes_the_room_pictures_they_uploaded_along,
    }
    export {
        an_export_has_each_message_of_the_member_once,
        an_export_ends_with_all_items_of_the_member,
    }
    imports {
        imported_data_is_unchanged_and_read,
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
        a_stranger_may_begin_with_one_message,
    }
    retention {
        a_position_outlasts_its_message,
        the_oldest_go_and_numbers_stay,
        a_conversation_with_only_old_messages_becomes_empty,
        a_room_may_keep_for_another_time,
    }
    blocks {
        a_blocker_leaves_private_rooms_of_the_blocked_alone,
        mentions_and_notices_pass_over_blocked_authors,
        search_and_threads_pass_over_blocked_authors,
        a_direct_conversation_knows_of_a_block_on_either_side,
        a_conversation_that_begins_after_a_block_is_marked_as_blocked,
        the_first_page_of_contacts_has_all_blocked_users,
    }
    merge {
        a_guest_goes_on_as_a_member,
        it_is_done_once_and_only_with_guests,
        a_guests_profile_changes_no_member,
        a_ban_of_a_guest_holds_for_the_member,
    }
    profiles {
        profile_fields_are_kept_until_they_are_removed,
        what_a_member_chooses_is_read_with_the_row,
        a_chosen_name_survives_tokens_until_it_is_removed,
    }
    views {
        a_new_user_signs_in_to_an_empty_view_and_a_known_one_to_theirs,
        an_empty_first_page_says_what_waits,
        a_rejected_sign_in_gets_no_answer,
        later_commits_come_after_met,
        a_difference_has_changed_rows_only,
        a_difference_has_removed_contacts,
        a_gap_has_the_seq_of_the_first_sent_message,
        too_much_change_a_strange_epoch_or_the_future_reset,
    }
    changed_views {
        each_kind_of_change_is_found_for_those_who_see_it,
        an_erasure_is_found_by_those_who_share_a_conversation,
        strange_positions_count_as_changed,
        no_view_with_a_change_passes_for_unchanged,
    }
    rooms {
        a_message_counts_for_each_member_and_touches_none,
        the_first_author_creates_the_room_of_a_page,
        a_private_room_does_not_exist_for_outsiders,
        roles_slow_mode_and_freeze_hold_from_the_next_message_on,
        a_removed_member_is_notified_and_a_banned_one_stays_out,
        a_difference_has_rooms_that_changed_and_their_messages,
        members_enter_under_nicknames,
        members_choose_nicknames,
        a_post_names_its_author_on_request,
        there_are_only_so_many_members_and_rooms,
        a_closed_room_exists_for_nobody,
        a_large_room_is_closed_in_slices,
        a_closing_that_was_interrupted_can_be_finished,
        an_owner_who_leaves_as_the_last_member_closes_the_room,
        members_and_rooms_are_listed_by_name,
        members_of_small_rooms_see_how_far_the_others_are,
        an_archived_room_comes_back_with_the_next_message,
        a_mute_and_a_ban_end_by_themselves,
        a_mute_outlasts_leaving,
        moderators_see_muted_and_banned_users,
        a_muted_member_who_rejoins_by_a_link_or_a_request_stays_muted,
        a_reason_is_for_the_member_and_the_record,
        a_room_takes_no_more_than_its_own_limit,
        members_are_read_with_the_rows_of_those_asked_for,
    }
    room_requests {
        a_request_opens_the_room_until_it_is_declined,
        a_member_who_left_is_invited_by_other_members_only,
        requests_end_with_blocks_withdrawals_and_bans,
        a_user_is_asked_so_often_and_a_member_asks_so_often,
    }
    links {
        a_link_is_used_up_to_its_limit,
        who_keeps_order_has_all_of_them,
        what_ends_by_time_or_number_makes_room,
        a_member_has_a_share_of_a_rooms_links,
        a_link_ends_when_its_author_loses_the_right,
        a_link_belongs_to_one_site_and_is_removed_with_it,
        it_goes_by_the_name_of_now,
    }
    app_passwords {
        the_keys_of_a_user_are_kept_until_they_are_revoked,
        passwords_are_for_members_and_bounded,
        a_sign_in_by_password_reads_the_user_and_stores_the_use_once_an_hour,
        acts_of_the_operator_are_recorded_and_told_to_nodes,
        an_erased_user_has_no_passwords,
        a_changed_password_has_another_number,
        a_device_has_the_tokens_of_one_password,
        a_token_is_replaced_by_use,
        tokens_end_with_their_password_and_their_user,
        tokens_of_a_user_are_bounded_and_expire,
    }
    items {
        a_list_keeps_its_newest_items,
        a_list_has_the_choices_that_somebody_requires,
        readers_get_what_a_list_admits,
        items_are_bounded,
        an_erased_user_has_no_items,
    }
    own_pictures {
        an_own_picture_is_shown_where_the_site_gives_none,
        the_setting_chooses_from_the_next_sign_in_on,
        an_own_picture_ends_with_its_item,
        only_the_newest_item_that_everybody_reads_makes_a_picture,
        an_own_picture_is_read_only_with_its_site,
        a_moderator_removes_a_picture_with_its_items,
        an_erased_user_has_no_own_picture,
    }
    safety {
        a_stranger_asks_until_the_other_one_answers,
        a_request_has_no_links_now_or_later,
        a_request_does_not_show_whether_it_was_read,
        a_dismissed_asker_reaches_nobody,
        contacts_wait_for_no_answer,
        a_user_begins_so_many_a_day,
        a_report_keeps_the_messages,
        a_report_keeps_former_bodies,
        a_report_is_taken_closed_and_opened_again,
        moderators_cannot_close_reports_about_themselves,
        open_reports_of_one_user_are_bounded,
        a_sanction_holds_until_its_end_and_has_a_notice,
        a_warning_stays_until_it_is_seen,
        nobody_acts_on_their_equals,
        moderators_of_the_site_keep_order_in_its_rooms,
        all_that_is_done_is_recorded,
        small_acts_of_room_moderators_are_recorded,
        settings_belong_to_one_site,
        a_token_sets_a_role_unless_a_later_decision_exists,
        only_admins_erase_others,
        reports_about_others_keep_no_words_of_an_erased_user,
        sanctions_hold_for_the_next_user_with_the_same_id,
        only_permitted_moderators_change_a_site_and_the_change_is_recorded,
    }
    guard {
        a_message_waits_beside_the_log,
        a_refused_message_stays_until_its_sender_has_seen_it,
        the_shadow_keeps_the_newest,
        no_message_is_held_if_its_sender_may_not_write,
        a_filter_reports_the_messages_that_it_checked,
        a_level_rises_and_a_set_level_stays,
        devices_are_banned_with_their_user,
        settings_change_in_their_stored_form,
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
        an_open_file_goes_with_the_first_message_that_has_it,
        strangers_get_no_open_files,
        open_files_are_of_their_owner_and_bounded,
        open_files_live_longer_than_others,
        what_is_in_no_message_grows_stale,
        a_room_accepts_files_of_users_who_may_write,
        a_room_has_one_picture_which_counts_until_it_is_replaced,
        who_keeps_order_may_remove_the_picture_of_a_room,
    }
    notify {
        a_browser_is_of_one_user_at_a_time,
        only_the_newest_browsers_are_kept,
        a_device_that_is_signed_out_takes_no_notifications,
        an_app_has_one_push_for_each_device_and_service,
        the_push_of_an_app_ends_with_its_password_and_its_device,
        the_pushes_of_apps_go_with_the_account_and_the_site,
        what_is_chosen_is_kept_and_the_rest_stays,
        the_facts_are_of_ones_own_conversations,
        missed_calls_are_counted_among_the_unread,
        a_sites_key_is_made_once_and_goes_with_the_site,
        a_digest_is_due_once_a_day_at_most_and_as_late_as_is_wanted,
    }
    rich {
        a_vote_replaces_the_previous_one,
        a_poll_ends_and_is_closed,
        an_anonymous_poll_shows_no_voters,
        a_first_message_to_a_stranger_bears_nothing,
        a_forwarded_message_has_its_files_and_its_author,
        files_are_not_forwarded_to_strangers,
        an_erased_users_files_go_from_forwarded_messages,
        an_erased_users_files_go_although_the_original_was_deleted_before,
        a_reply_is_a_message_of_the_room,
        a_thread_is_read_page_by_page,
        a_gap_brings_the_replies_of_threads,
        a_follower_of_a_thread_sees_unread_replies,
        one_message_is_readable_by_members_only,
        a_preview_is_put_on_once_and_goes_with_its_link,
        gathered_changes_are_published_at_a_fresh_position,
    }
    sites {
        sites_are_kept_whole_and_secrets_are_newest_first,
        the_revision_counts_changes_of_sites_and_bans_only,
        sites_never_meet,
        a_removed_site_leaves_nothing,
        a_domain_or_key_names_one_site,
    }
}

pub(crate) fn two_users(store: &dyn Store) -> (SiteId, UserId, UserId) {
    let site = add_site(store, "forum");
    (site, put(store, site, "ann"), put(store, site, "bob"))
}

pub(crate) fn state(of_a: Side, of_b: Side) -> Relation {
    Relation { of_a, of_b }
}

pub(crate) fn relate(store: &dyn Store, a: UserId, b: UserId, relation: Relation) -> Option<Position> {
    ask(|done| store.put_relation(a, b, relation, 100, NOW, done))
}

pub(crate) const FRIENDS: Relation = Relation { of_a: Side::CONTACT, of_b: Side::CONTACT };
pub(crate) const STRANGERS: Relation = Relation { of_a: Side::NONE, of_b: Side::NONE };
