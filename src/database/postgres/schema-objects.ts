/** Whether an object of the catalogue belongs to an extension, which an operator may have installed. */
const isOfExtensionSql = (catalogue: string, oid: string) =>
  `exists (select from pg_depend where classid = '${catalogue}'::regclass and objid = ${oid} and deptype = 'e')`

/**
 * Every object in the first schema of `search_path` that may change how rows are stored, read or checked, as `SchemaObject` has
 * it: tables, columns, indexes, constraints, triggers, rules, policies, views and functions. Triggers and foreign keys that are
 * switched off, and indexes that are not valid, differ from those that are at work.
 */
export const schemaObjectsSql = `
  with relations as (
    select c.* from pg_class c where relnamespace = current_schema()::regnamespace and not ${isOfExtensionSql('pg_class', 'c.oid')}
  ), tables as (select * from relations where relkind in ('r', 'p', 'f', 'm')),
  objects (kind, name, "table", target, definition, "isHarmless") as (
    select 'table', relname::text, null, null, concat_ws(' ', relkind, relpersistence,
        case when exists (select from pg_inherits where inhparent = oid) then 'with tables that inherit from it' end), true
      from tables
    union all
    select 'row-level security', 'state', relname, null,
        case when relrowsecurity and relforcerowsecurity then 'forced' when relrowsecurity then 'enabled' else 'off' end, true
      from tables
    union all
    select 'column', attname, relname, null, concat_ws(' ', format_type(atttypid, atttypmod),
        case when attnotnull then 'not null' end, 'generated ' || nullif(attgenerated::text, ''), 'identity ' || nullif(attidentity::text, ''),
        'collate ' || nullif(attcollation, typcollation)::regcollation::text, 'default ' || pg_get_expr(adbin, adrelid, true)), false
      from pg_attribute join tables on attrelid = tables.oid join pg_type on pg_type.oid = atttypid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum where attnum > 0 and not attisdropped
    union all
    select 'index', i.relname, t.relname, null, concat_ws(' ', pg_get_indexdef(indexrelid, 0, true),
        case when not indisvalid or not indisready or not indislive then '(not valid)' end),
        not indisunique and indexprs is null and indpred is null
      from pg_index join tables t on indrelid = t.oid join pg_class i on i.oid = indexrelid
      where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    union all
    select 'constraint', conname, conrelid::regclass::text, nullif(confrelid, 0)::regclass::text,
        concat_ws(' ', pg_get_constraintdef(c.oid, true), case when exists
          (select from pg_trigger where tgconstraint = c.oid and tgenabled <> 'O') then '(switched off)' end), false
      from pg_constraint c where contype in ('p', 'u', 'x', 'c', 'f')
        and (conrelid in (select oid from tables) or confrelid in (select oid from tables))
    union all
    select 'trigger', tgname, relname, null,
        concat_ws(' ', pg_get_triggerdef(g.oid, true), case when tgenabled <> 'O' then '(switched off)' end), false
      from pg_trigger g join relations on tgrelid = relations.oid where not tgisinternal
    union all
    select 'rule', rulename, relname, null, pg_get_ruledef(w.oid, true) || ev_enabled::text, false
      from pg_rewrite w join relations on ev_class = relations.oid where rulename <> '_RETURN'
    union all
    select 'policy', polname, relname, null, concat_ws(' ', case when polpermissive then 'permissive' else 'restrictive' end, polcmd,
        'to', (select string_agg(case role when 0 then 'public' else role::regrole::text end, ', ') from unnest(polroles) role),
        'using ' || pg_get_expr(polqual, polrelid, true), 'check ' || pg_get_expr(polwithcheck, polrelid, true)), false
      from pg_policy join tables on polrelid = tables.oid
    union all
    select 'view', relname::text, null, null, concat_ws(' ', pg_get_viewdef(oid, true), array_to_string(reloptions, ' ')), true
      from relations where relkind = 'v'
    union all
    select 'function', proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', null, null, concat_ws(' ', lanname,
        format_type(prorettype, null), case when prosecdef then 'security definer' end, array_to_string(proconfig, ' '), prosrc), true
      from pg_proc p join pg_language l on l.oid = prolang
      where pronamespace = current_schema()::regnamespace and not ${isOfExtensionSql('pg_proc', 'p.oid')}
  ) select * from objects order by kind, name, "table"`
