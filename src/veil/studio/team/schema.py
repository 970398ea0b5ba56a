"""The tables of the workbench of a team, as the steps that an older database goes through to have them.

A step is never changed once a version of Veil had it: what comes later is a further step.
"""

from __future__ import annotations

_FIRST = (
    """
    CREATE TABLE veil_studio_accounts (
        id text PRIMARY KEY,
        name text NOT NULL UNIQUE,
        role text NOT NULL CHECK (role IN ('viewer', 'analyst', 'steward')),
        password text,
        is_external boolean NOT NULL DEFAULT false,
        issuer text,
        subject text,
        link text UNIQUE,
        link_until timestamptz,
        disabled boolean NOT NULL DEFAULT false,
        made_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (issuer, subject)
    )
    """,
    """
    CREATE TABLE veil_studio_sessions (
        token text PRIMARY KEY,
        account text NOT NULL REFERENCES veil_studio_accounts,
        begun timestamptz NOT NULL,
        seen timestamptz NOT NULL,
        address text NOT NULL
    )
    """,
    """
    CREATE TABLE veil_studio_attempts (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key text NOT NULL,
        at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX veil_studio_attempts_by_key ON veil_studio_attempts (key, at)",
    """
    CREATE TABLE veil_studio_sign_ins (
        state text PRIMARY KEY,
        browser text NOT NULL,
        nonce text NOT NULL,
        verifier text NOT NULL,
        target text NOT NULL,
        begun timestamptz NOT NULL
    )
    """,
    """
    CREATE TABLE veil_studio_projects (
        id text PRIMARY KEY,
        title text NOT NULL,
        made_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE veil_studio_members (
        project text NOT NULL REFERENCES veil_studio_projects,
        account text NOT NULL REFERENCES veil_studio_accounts,
        PRIMARY KEY (project, account)
    )
    """,
    """
    CREATE TABLE veil_studio_budgets (
        dataset text PRIMARY KEY,
        project text NOT NULL REFERENCES veil_studio_projects,
        made_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE veil_studio_sources (
        id text PRIMARY KEY,
        project text NOT NULL REFERENCES veil_studio_projects,
        dataset text NOT NULL REFERENCES veil_studio_budgets,
        title text NOT NULL,
        shown text NOT NULL,
        sealed bytea NOT NULL,
        table_name text NOT NULL,
        header text NOT NULL,
        columns text NOT NULL,
        asked text NOT NULL,
        retired boolean NOT NULL DEFAULT false,
        made_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE veil_studio_lists (
        project text NOT NULL REFERENCES veil_studio_projects,
        name text NOT NULL,
        sha256 text NOT NULL,
        content bytea NOT NULL,
        made_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (project, name)
    )
    """,
    """
    CREATE TABLE veil_studio_drafts (
        id text PRIMARY KEY,
        project text NOT NULL REFERENCES veil_studio_projects,
        owner text NOT NULL REFERENCES veil_studio_accounts,
        content text NOT NULL,
        changed timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE veil_studio_proposals (
        id text PRIMARY KEY,
        project text NOT NULL REFERENCES veil_studio_projects,
        draft text NOT NULL,
        version integer NOT NULL,
        author text NOT NULL REFERENCES veil_studio_accounts,
        request text NOT NULL,
        sha256 text NOT NULL UNIQUE,
        state text NOT NULL CHECK (state IN ('proposed', 'approved', 'refused', 'withdrawn')),
        decided_by text REFERENCES veil_studio_accounts,
        decided_at timestamptz,
        note text NOT NULL DEFAULT '',
        made_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (draft, version)
    )
    """,
    """
    CREATE TABLE veil_studio_releases (
        id text PRIMARY KEY,
        project text NOT NULL REFERENCES veil_studio_projects,
        proposal text NOT NULL UNIQUE REFERENCES veil_studio_proposals,
        asked_by text NOT NULL REFERENCES veil_studio_accounts,
        state text NOT NULL,
        phase text NOT NULL DEFAULT '',
        host text,
        beat timestamptz,
        stop boolean NOT NULL DEFAULT false,
        details text NOT NULL DEFAULT '',
        charge text NOT NULL DEFAULT '',
        diary text NOT NULL DEFAULT '',
        record bytea,
        report bytea,
        asked_at timestamptz NOT NULL DEFAULT now(),
        ended_at timestamptz
    )
    """,
    "CREATE INDEX veil_studio_releases_by_state ON veil_studio_releases (state, asked_at)",
    """
    CREATE TABLE veil_studio_audit (
        number bigint PRIMARY KEY,
        at text NOT NULL,
        who text NOT NULL,
        project text NOT NULL,
        action text NOT NULL,
        about text NOT NULL,
        previous text NOT NULL,
        sha256 text NOT NULL
    )
    """,
    """
    CREATE FUNCTION veil_studio_keep() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'veil studio: % is only added to', TG_TABLE_NAME; END $$
    """,
    """
    CREATE TRIGGER veil_studio_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON veil_studio_audit
    FOR EACH STATEMENT EXECUTE FUNCTION veil_studio_keep()
    """,
    # A plan that was proposed stays as it was: only what was decided about it is added.
    """
    CREATE FUNCTION veil_studio_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE'
            OR (OLD.id, OLD.project, OLD.draft, OLD.version, OLD.author, OLD.request, OLD.sha256)
                IS DISTINCT FROM
                (NEW.id, NEW.project, NEW.draft, NEW.version, NEW.author, NEW.request, NEW.sha256)
            OR OLD.state <> 'proposed' AND (OLD.state, NEW.state) <> ('approved', 'withdrawn')
        THEN RAISE EXCEPTION 'veil studio: a plan that was proposed is not changed'; END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER veil_studio_frozen BEFORE UPDATE OR DELETE ON veil_studio_proposals
    FOR EACH ROW EXECUTE FUNCTION veil_studio_frozen()
    """,
)

STEPS = (_FIRST,)
