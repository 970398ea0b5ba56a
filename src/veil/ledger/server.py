"""Functions of a PostgreSQL ledger through which a role that may only release adds entries.

They run with the rights of the owner of the ledger, and accept only lawful steps: a charge, the use of a
place of a batch, or the note that a release was made, each after the newest entry, with totals that are the
sum of all charges and within the limits. Such a role has no other way to write. What they check is checked
again, and more, by `veil ledger verify` (`veil.ledger.replay`).
"""

from __future__ import annotations

# Statements of single rows: planned once for a connection, by the keys, however small the tables were then.
_PLANS = "SET plan_cache_mode = force_generic_plan SET enable_seqscan = off"

# Kinds of entries that a role may add which can only release.
RELEASING = ("reserve", "use", "confirm")

_LOCK = """
CREATE OR REPLACE FUNCTION {place}.veil_ledger_lock(wanted text)
RETURNS TABLE (last text, parts text, number integer, sha256 text, token text, mac text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp {plans} AS $$
BEGIN
    PERFORM 1 FROM {place}.veil_ledger_queue q WHERE q.dataset = wanted FOR UPDATE;
    RETURN QUERY
        SELECT d.last, d.parts, newest.number, newest.sha256::text, newest.token::text, newest.mac
        FROM {place}.veil_ledger_datasets d LEFT JOIN LATERAL (
            SELECT e.number, e.sha256, e.token, e.mac FROM {place}.veil_ledger_entries e
            WHERE e.dataset = wanted ORDER BY e.number DESC LIMIT 1
        ) newest ON true
        WHERE d.name = wanted FOR UPDATE OF d;
END $$
"""

# A number that is one: finite, and not below nothing. It is called by what has set its search path.
_AMOUNT = """
CREATE OR REPLACE FUNCTION {place}.veil_ledger_amount(written text) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF written IS NULL THEN RETURN 0; END IF;
    IF written !~ '^[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{{1,4}})?$' THEN
        RAISE EXCEPTION 'veil ledger: a charge that is no amount';
    END IF;
    RETURN written::numeric;
END $$
"""

# What a charge takes of the budget of a part where a record may move to another: that of two records.
_TAKEN = """
CREATE OR REPLACE FUNCTION {place}.veil_ledger_taken(cost jsonb, line text, moves boolean) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    amount numeric := {place}.veil_ledger_amount(cost ->> line);
    epsilon numeric := {place}.veil_ledger_amount(cost ->> 'epsilon');
BEGIN
    IF NOT moves OR amount = 0 THEN RETURN amount; END IF;
    IF line = 'delta' THEN
        IF epsilon > 100 THEN RETURN 1; END IF;
        -- Veil rounds up at the fifteenth digit; here is less, by more than either may be off.
        RETURN least(1, amount * (1 + exp(epsilon))) * 0.999999999999;
    END IF;
    RETURN CASE WHEN line = 'rho' THEN 4 ELSE 2 END * amount;
END $$
"""

# Every charge runs it: queries in here, other than those of single rows, are for what is rare.
_ADD = """
CREATE OR REPLACE FUNCTION {place}.veil_ledger_add(
    wanted text, next_number integer, hash text, mark text, written text, keyed text, beside text
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp {plans} AS $$
DECLARE
    last text; last_hash text; held_parts text; found_last boolean; terms text;
    before jsonb; entry jsonb; content jsonb; agreed jsonb; under jsonb; cost jsonb;
    old_whole jsonb; new_whole jsonb; old_parts jsonb; new_parts jsonb;
    kind text; part text; line text; name text; limits jsonb; fits boolean; moves boolean;
    names text[] := ARRAY[]::text[];
    old_total numeric; new_total numeric; change numeric;
BEGIN
    -- Whoever adds an entry holds this row; it is held already where the entry was looked at before.
    PERFORM 1 FROM {place}.veil_ledger_queue q WHERE q.dataset = wanted FOR UPDATE;
    SELECT d.last, d.parts INTO last, held_parts FROM {place}.veil_ledger_datasets d WHERE d.name = wanted;
    IF NOT FOUND THEN RAISE EXCEPTION 'veil ledger: no such dataset'; END IF;
    before := last::jsonb; entry := written::jsonb;
    last_hash := encode(sha256(convert_to(last, 'UTF8')), 'hex');
    content := entry -> 'content'; kind := entry ->> 'kind';
    IF kind NOT IN ('reserve', 'use', 'confirm') OR content ? 'agreed' THEN
        RAISE EXCEPTION 'veil ledger: this role may only charge and confirm';
    END IF;
    -- After the newest entry, and by its own words.
    IF hash IS DISTINCT FROM encode(sha256(convert_to(written, 'UTF8')), 'hex')
        OR next_number IS DISTINCT FROM (before ->> 'number')::integer + 1
        OR (entry ->> 'number')::integer IS DISTINCT FROM next_number
        OR entry ->> 'previous' IS DISTINCT FROM last_hash
        OR entry ->> 'ledger' IS DISTINCT FROM before ->> 'ledger'
        OR entry ->> 'dataset' IS DISTINCT FROM wanted
    THEN RAISE EXCEPTION 'veil ledger: an entry that does not follow the last one'; END IF;
    IF (entry ->> 'time')::timestamptz < (before ->> 'time')::timestamptz
        OR (entry ->> 'time')::timestamptz > greatest(
            clock_timestamp() + interval '1 day', (before ->> 'time')::timestamptz)
    THEN RAISE EXCEPTION 'veil ledger: an entry out of the order of time'; END IF;
    -- By somebody, if it says by whom, and for a reason, if it says why.
    IF content ? 'by' AND (jsonb_typeof(content -> 'by') <> 'string' OR content ->> 'by' !~ '[^[:space:]]')
        OR content ? 'why'
            AND (jsonb_typeof(content -> 'why') <> 'string' OR content ->> 'why' !~ '[^[:space:]]')
    THEN RAISE EXCEPTION 'veil ledger: no text for who released, or why'; END IF;
    -- Under the terms that hold.
    under := CASE WHEN before -> 'content' ? 'agreed'
        THEN jsonb_build_array(next_number - 1, last_hash)
        ELSE before #> '{{content,under}}' END;
    IF content -> 'under' IS DISTINCT FROM under THEN
        RAISE EXCEPTION 'veil ledger: other terms than those that were agreed';
    END IF;
    SELECT t.body, (SELECT (e.number, e.sha256) = (next_number - 1, last_hash)
            FROM {place}.veil_ledger_entries e WHERE e.dataset = wanted ORDER BY e.number DESC LIMIT 1)
        INTO terms, found_last FROM {place}.veil_ledger_entries t
        WHERE t.dataset = wanted AND t.number = (under ->> 0)::integer;
    IF NOT coalesce(found_last, false) THEN
        RAISE EXCEPTION 'veil ledger: a last entry that is not the newest';
    END IF;
    agreed := terms::jsonb #> '{{content,agreed}}';
    IF jsonb_typeof(agreed #> '{{rule,limits}}') IS DISTINCT FROM 'object' THEN
        RAISE EXCEPTION 'veil ledger: other terms than those that were agreed';
    END IF;
    IF (agreed ->> 'closed')::boolean AND kind <> 'confirm' THEN
        RAISE EXCEPTION 'veil ledger: the dataset is closed';
    END IF;
    IF agreed ->> 'key' IS NOT NULL AND keyed IS NULL THEN
        RAISE EXCEPTION 'veil ledger: entries of this dataset are keyed';
    END IF;
    IF kind <> 'reserve' AND (
        kind = 'confirm' AND mark IS DISTINCT FROM 'confirm ' || (content ->> 'entry')
        OR kind = 'use'
            AND mark IS DISTINCT FROM 'use ' || (content ->> 'entry') || ' ' || (content ->> 'slot')
        OR NOT EXISTS (
            SELECT 1 FROM {place}.veil_ledger_entries e
            WHERE e.dataset = wanted AND e.number = (content ->> 'entry')::integer
                AND e.body::jsonb ->> 'kind' = ANY (
                    CASE WHEN kind = 'use' THEN ARRAY['reserve'] ELSE ARRAY['reserve', 'use'] END)))
    THEN RAISE EXCEPTION 'veil ledger: an entry about another that is no reservation'; END IF;
    -- Totals that are the sum of the charges.
    old_whole := before #> '{{content,totals,whole}}'; new_whole := content #> '{{totals,whole}}';
    old_parts := before #> '{{content,totals,parts}}'; new_parts := content #> '{{totals,parts}}';
    IF jsonb_typeof(old_parts) = 'string' THEN old_parts := held_parts::jsonb; END IF;
    IF jsonb_typeof(new_parts) = 'string' THEN
        IF new_parts #>> '{{}}' IS DISTINCT FROM encode(sha256(convert_to(beside, 'UTF8')), 'hex') THEN
            RAISE EXCEPTION 'veil ledger: other parts than the entry says';
        END IF;
        new_parts := beside::jsonb;
    END IF;
    IF jsonb_typeof(new_whole) IS DISTINCT FROM 'object'
        OR jsonb_typeof(old_whole) IS DISTINCT FROM 'object'
        OR jsonb_typeof(old_parts) IS DISTINCT FROM 'object'
        OR jsonb_typeof(new_parts) IS DISTINCT FROM 'object'
    THEN RAISE EXCEPTION 'veil ledger: an entry without its totals'; END IF;
    IF kind <> 'reserve' THEN
        IF new_whole IS DISTINCT FROM old_whole OR new_parts IS DISTINCT FROM old_parts THEN
            RAISE EXCEPTION 'veil ledger: totals that are not the sum of the charges';
        END IF;
    ELSE
        limits := agreed #> '{{rule,limits}}'; moves := (agreed ->> 'moves')::boolean;
        cost := content -> 'cost'; part := content ->> 'part';
        IF cost ->> 'epsilon' IS NULL OR cost ->> 'delta' IS NULL
            OR {place}.veil_ledger_amount(cost ->> 'epsilon')
                < {place}.veil_ledger_amount(content ->> 'epsilon')
            OR {place}.veil_ledger_amount(cost ->> 'delta') < {place}.veil_ledger_amount(content ->> 'delta')
        THEN RAISE EXCEPTION 'veil ledger: a charge below what was stated'; END IF;
        IF part IS NOT NULL AND (NOT (agreed -> 'parts') ? part OR NOT new_parts ? part) THEN
            RAISE EXCEPTION 'veil ledger: no such part';
        END IF;
        IF old_parts <> '{{}}' OR new_parts <> '{{}}' THEN
            names := ARRAY(SELECT jsonb_object_keys(old_parts || new_parts));
        END IF;
        FOREACH line IN ARRAY ARRAY(SELECT jsonb_object_keys(old_whole || new_whole || cost || limits)) LOOP
            IF limits ? line AND NOT cost ? line THEN
                RAISE EXCEPTION 'veil ledger: a charge below what was stated';
            END IF;
            change := CASE WHEN part IS NULL THEN {place}.veil_ledger_amount(cost ->> line) ELSE 0 END;
            IF {place}.veil_ledger_amount(new_whole ->> line)
                <> {place}.veil_ledger_amount(old_whole ->> line) + change
            THEN RAISE EXCEPTION 'veil ledger: totals that are not the sum of the charges'; END IF;
            FOREACH name IN ARRAY names LOOP
                change := CASE WHEN part = name THEN {place}.veil_ledger_taken(cost, line, moves) ELSE 0 END;
                old_total := {place}.veil_ledger_amount(old_parts -> name ->> line);
                new_total := {place}.veil_ledger_amount(new_parts -> name ->> line);
                IF new_total < old_total + change
                    OR new_total > old_total + change AND NOT (moves AND line = 'delta')
                THEN RAISE EXCEPTION 'veil ledger: totals that are not the sum of the charges'; END IF;
            END LOOP;
            -- Within the limits: along every line, for the part with most.
            IF limits ? line AND agreed #>> '{{rule,name}}' <> 'renyi' THEN
                new_total := {place}.veil_ledger_amount(new_whole ->> line);
                IF names <> ARRAY[]::text[] THEN
                    new_total := new_total + (
                        SELECT coalesce(max({place}.veil_ledger_amount(p.value ->> line)), 0)
                        FROM jsonb_each(new_parts) p);
                END IF;
                IF new_total > {place}.veil_ledger_amount(limits ->> line) THEN
                    RAISE EXCEPTION 'veil ledger: beyond the budget';
                END IF;
            END IF;
        END LOOP;
        -- With "renyi" along one line of each part.
        IF agreed #>> '{{rule,name}}' = 'renyi' THEN
            FOREACH name IN ARRAY names || ''::text LOOP
                SELECT bool_or({place}.veil_ledger_amount(new_whole ->> l.key)
                    + {place}.veil_ledger_amount(new_parts -> name ->> l.key)
                    <= {place}.veil_ledger_amount(l.value)) INTO fits FROM jsonb_each_text(limits) l;
                IF NOT coalesce(fits, false) THEN RAISE EXCEPTION 'veil ledger: beyond the budget'; END IF;
            END LOOP;
        END IF;
    END IF;
    INSERT INTO {place}.veil_ledger_entries (dataset, number, sha256, token, body, mac)
        VALUES (wanted, next_number, hash, mark, written, keyed);
    UPDATE {place}.veil_ledger_datasets d SET last = written, parts = beside WHERE d.name = wanted;
END $$
"""

# Nobody may call them who was not granted it.
_CLOSED = """
REVOKE ALL ON FUNCTION {place}.veil_ledger_lock(text),
    {place}.veil_ledger_add(text, integer, text, text, text, text, text) FROM PUBLIC
"""

# What a role needs, and no more.
_ROLES = {
    "auditor": [
        "GRANT USAGE ON SCHEMA {place} TO {role}",
        "GRANT SELECT ON {place}.veil_ledger, {place}.veil_ledger_datasets, "
        "{place}.veil_ledger_entries TO {role}",
    ],
    "releaser": [
        "GRANT EXECUTE ON FUNCTION {place}.veil_ledger_lock(text), "
        "{place}.veil_ledger_add(text, integer, text, text, text, text, text) TO {role}",
    ],
    "steward": [
        "GRANT INSERT ON {place}.veil_ledger_entries, {place}.veil_ledger_queue TO {role}",
        "GRANT INSERT, UPDATE ON {place}.veil_ledger_datasets TO {role}",
    ],
}
ROLES = tuple(_ROLES)


def functions(schema: str) -> list[str]:
    """The statements that make the functions, in this schema."""
    place = _quoted(schema)
    return [text.format(place=place, plans=_PLANS) for text in (_LOCK, _AMOUNT, _TAKEN, _ADD, _CLOSED)]


def grants(schema: str, role: str, purpose: str) -> list[str]:
    """The statements that let a role do what its purpose needs: each purpose includes those before it."""
    wanted = ROLES[: ROLES.index(purpose) + 1]
    named = {"place": _quoted(schema), "role": _quoted(role)}
    return [text.format(**named) for one in wanted for text in _ROLES[one]]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
