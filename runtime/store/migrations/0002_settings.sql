-- What conversations run with: settings, aspects and their revisions, blobs, notes.

create table settings (
    namespace text not null,
    kind      text not null check (kind in ('mode', 'skill', 'model')),
    name      text not null,
    -- Resolved: thetis_core::settings. Its digest is of this text, so json, which is kept as written.
    value     json not null,
    -- A model's key, sealed for this place.
    key       bytea,
    primary key (namespace, kind, name)
);

create table blob (
    digest bytea primary key,
    bytes  bytea not null
);
-- Components, images and long outputs: compressed already, or read in parts too seldom to be worth it.
alter table blob alter column bytes set storage external;

create table aspect (
    namespace text not null,
    kind      text not null check (kind in ('agent', 'gateway', 'tool')),
    name      text not null,
    -- The number of the revision that runs.
    active    integer not null,
    -- Of the aspect, not of a revision: what it may reach is decided by people.
    grants    json not null,
    primary key (namespace, kind, name)
);

-- Immutable. Revision 1 is what an aspect can always go back to.
create table revision (
    namespace text not null,
    kind      text not null,
    name      text not null,
    number    integer not null,
    component bytea not null references blob,
    -- A tool's, as its component declared it.
    manifest  json,
    at        timestamptz not null default now(),
    primary key (namespace, kind, name, number)
);

-- Immutable: which revision every aspect ran from this moment on. One is taken at each activation.
create table snapshot (
    namespace text not null,
    number    integer not null,
    at        timestamptz not null default now(),
    -- [{"kind", "name", "revision"}], by kind and name.
    aspects   json not null,
    primary key (namespace, number)
);

-- bytea, because a guest's text may hold any character.
create table note (
    conversation uuid not null references conversation on delete cascade,
    key          bytea not null,
    content      bytea not null,
    at           timestamptz not null default now(),
    primary key (conversation, key)
);
