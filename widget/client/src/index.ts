// Kith's headless client: the member's conversations as values to draw, without an interface.

export { browserEnvironment } from './browser.ts';
export * from './client.ts';
export type { Unnumbered } from './engine.ts';
export type { Environment } from './environment.ts';
export { type ClientOptions, createClient } from './member.ts';
export type { Bears } from './rich.ts';
export type {
  Audience,
  AuditEntry,
  CallAction,
  CallEntry,
  CallOutcome,
  CallsFrom,
  Code,
  Contact,
  ContactAction,
  ContactState,
  Device,
  Event,
  FilterAct,
  FilterHit,
  Forwarded,
  IceServer,
  LeftReason,
  Level,
  Limits,
  Media,
  Member,
  MemberAction,
  ModeratorAct,
  Notice,
  OwnProfile,
  Person,
  Poll,
  Presence,
  Preview,
  Profile,
  PushSubscription as PushSubscribing,
  QuietHours,
  Replies,
  Report,
  ReportReason,
  ReportState,
  RequestAnswer,
  RequestState,
  Role,
  RoomKind,
  SentFile,
  SetPresence,
  SiteRole,
  SiteState,
} from './wire.ts';
