// Generated from docs/openapi.json by "npm run docs". Do not edit.

export interface paths {
    "/api/v2/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List alerts and what was sent, newest first */
        get: operations["get_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/alerts/{alert_id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Acknowledge an alert: it sends no more updates, only its end */
        post: operations["acknowledge_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/alerts/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List alert rules by name, and which channels fail */
        get: operations["get_alert_rules"];
        put?: never;
        /**
         * Create an alert rule
         * @description The secret of the channel is the password of the connection, which may come later.
         */
        post: operations["post_alert_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/alerts/rules/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove an alert rule, and what it has sent */
        delete: operations["delete_alert_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/alerts/rules/{rule_id}/mute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mute an alert rule: new alerts are recorded and not sent */
        post: operations["mute_alert_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/alerts/rules/{rule_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test message through the channel of a rule now */
        post: operations["test_alert_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List assets */
        get: operations["get_assets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets/{asset_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one asset */
        get: operations["get_asset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets/{asset_id}/materialize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Materialize an asset: run the DAG that writes it */
        post: operations["materialize_asset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets/{asset_id}/queuedEvents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the asset events that wait for a DAG to run */
        get: operations["get_asset_queued_events"];
        put?: never;
        post?: never;
        /** Delete the asset events that wait for a DAG to run */
        delete: operations["delete_asset_queued_events"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets/{asset_id}/state-store": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the state store of an asset
         * @description In the order of the keys.
         */
        get: operations["list_asset_state_store"];
        put?: never;
        post?: never;
        /** Delete all keys of the state store of an asset */
        delete: operations["clear_asset_state_store"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets/{asset_id}/state-store/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one value of the state store of an asset */
        get: operations["get_asset_state_store"];
        /** Set one value of the state store of an asset */
        put: operations["set_asset_state_store"];
        post?: never;
        /**
         * Delete one key of the state store of an asset
         * @description A key that does not exist is no error.
         */
        delete: operations["delete_asset_state_store"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List asset aliases */
        get: operations["get_asset_aliases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets/aliases/{asset_alias_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one asset alias */
        get: operations["get_asset_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/assets/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List asset events */
        get: operations["get_asset_events"];
        put?: never;
        /**
         * Create an asset event
         * @description DAGs whose schedule waits for it run, as if a task had written it.
         */
        post: operations["create_asset_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Redirect to the login page, and from there back to `next` */
        get: operations["login"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** End the session and redirect to the login page */
        get: operations["logout"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/oidc/cli/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Authorize the command line of the user who has just signed in
         * @description Called by the page that asks the person.
         */
        post: operations["oidc_approve_cli"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/oidc/cli/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange the code of a browser login for a token
         * @description Once, within a minute, and only with the verifier whose SHA-256 hash the sign-in was started with.
         */
        post: operations["oidc_cli_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/oidc/device": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a device login, which the user finishes in a browser elsewhere
         * @description Only where the identity provider has device codes (RFC 8628).
         */
        post: operations["oidc_device_login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/oidc/device/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get the token of a device login, after the user has finished it */
        post: operations["oidc_device_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/oidc/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Redirect to the identity provider, and from there back to `next` with a session
         * @description For browsers. Only where `auth.provider` is `oidc`.
         */
        get: operations["oidc_login"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change your own password
         * @description Ends every session of yours, this one included: log in again with the new password.
         */
        post: operations["change_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/auth/token/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a still valid token for a fresh one of the same session */
        post: operations["renew_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/backfills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List backfills */
        get: operations["list_backfills"];
        put?: never;
        /**
         * Create a backfill: the runs of a range of dates
         * @description All of them are queued at once; `max_active_runs` of them run at a time.
         */
        post: operations["create_backfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/backfills/{backfill_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one backfill */
        get: operations["get_backfill"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/backfills/{backfill_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Cancel a backfill; its runs that have not started fail */
        put: operations["cancel_backfill"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/backfills/{backfill_id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Pause a backfill: no more of its runs start */
        put: operations["pause_backfill"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/backfills/{backfill_id}/unpause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Unpause a backfill */
        put: operations["unpause_backfill"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/backfills/dry_run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List the dates that a backfill would run, in its order */
        post: operations["create_backfill_dry_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/bundles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List bundles by name */
        get: operations["get_bundles"];
        put?: never;
        /**
         * Create a bundle, and sync it
         * @description With `conn_id` or `webhook_conn_id` it also needs `write:connection`, because secrets of these are used.
         */
        post: operations["post_bundle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/bundles/{bundle}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a bundle: its settings, what is current, and its last sync */
        get: operations["get_bundle"];
        put?: never;
        post?: never;
        /** Remove a bundle with its deployments; its DAGs become stale and keep their history */
        delete: operations["delete_bundle"];
        options?: never;
        head?: never;
        /**
         * Change the settings of a bundle, and sync it
         * @description What is left out stays. A bundle with `conn_id` also needs `write:connection`, because the source gets the secret.
         */
        patch: operations["patch_bundle"];
        trace?: never;
    };
    "/api/v2/bundles/{bundle}/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deployments of a bundle, newest first */
        get: operations["get_deployments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/bundles/{bundle}/deployments/{deployment}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a deployment with the versions of its DAGs */
        get: operations["get_deployment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/bundles/{bundle}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make an older deployment current again
         * @description The commit that is undone is not deployed again before a sync is asked for or a newer commit comes.
         */
        post: operations["post_rollback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/bundles/{bundle}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a sync, also of a commit that was undone
         * @description The sync has ended when `sync.answered` of the bundle has reached `sync.requested` of this answer.
         */
        post: operations["post_bundle_sync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/bundles/{bundle}/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell that the source of a bundle has changed
         * @description For GitHub, GitLab, Bitbucket and programs that sign as Standard Webhooks do. The secret is the password of the connection `webhook_conn_id`. A repeated delivery is refused with 409.
         */
        post: operations["post_bundle_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the effective configuration; `Accept: text/plain` for its text */
        get: operations["get_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/config/section/{section}/option/{option}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one option of the effective configuration */
        get: operations["get_config_value"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List connections */
        get: operations["get_connections"];
        put?: never;
        /** Create a connection, or change the one with this id */
        post: operations["post_connection"];
        delete?: never;
        options?: never;
        head?: never;
        /** Create, update and delete several connections */
        patch: operations["bulk_connections"];
        trace?: never;
    };
    "/api/v2/connections/{connection_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one connection */
        get: operations["get_connection"];
        put?: never;
        post?: never;
        /** Delete a connection */
        delete: operations["delete_connection"];
        options?: never;
        head?: never;
        /** Change a connection */
        patch: operations["patch_connection"];
        trace?: never;
    };
    "/api/v2/connections/defaults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create the missing default connections
         * @description Empty but for their type, to be filled in. Those that exist stay as they are.
         */
        post: operations["create_default_connections"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/connections/enqueue-test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the state of the test of a connection, by its token */
        get: operations["get_connection_test"];
        put?: never;
        /**
         * Begin the test of a connection, whose result can be fetched for 10 minutes
         * @description As `POST /api/v2/connections/test`, without waiting. The process that answers has the result: with several of them behind a load balancer, send the request for it to the same one.
         */
        post: operations["enqueue_connection_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/connections/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a connection with its hook
         * @description Runs on a worker, in the Python environment of a DAG that has the provider. What the body leaves out, or has as `***`, is taken from the stored connection of that id. Off unless `connections.test_enabled`, and where tasks run in pods: 403.
         */
        post: operations["test_connection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/cost": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what tries have used and cost, by DAG, task, owner, tag, asset, queue or tenant
         * @description A try counts on the day of its end, in UTC. A DAG with several owners counts for each of them.
         */
        get: operations["get_cost"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List DAGs */
        get: operations["get_dags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Pause or unpause every DAG that matches a filter */
        patch: operations["patch_dags"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a DAG */
        get: operations["get_dag"];
        put?: never;
        post?: never;
        /**
         * Delete a DAG with all its versions and runs
         * @description With its runs, too. Refused while one of its tasks runs. A DAG whose file is still there comes back with its next registration, and goes on counting its versions.
         */
        delete: operations["delete_dag"];
        options?: never;
        head?: never;
        /** Pause or unpause a DAG */
        patch: operations["patch_dag"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/assets/{asset_id}/queuedEvents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the asset events that wait for a DAG to run */
        get: operations["get_dag_asset_queued_event"];
        put?: never;
        post?: never;
        /** Delete the asset events that wait for a DAG to run */
        delete: operations["delete_dag_asset_queued_event"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/assets/queuedEvents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the asset events that wait for a DAG to run */
        get: operations["get_dag_asset_queued_events"];
        put?: never;
        post?: never;
        /** Delete the asset events that wait for a DAG to run */
        delete: operations["delete_dag_asset_queued_events"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/clearDagRuns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Clear the task instances of several runs, so that they run again; `~` when the runs name their DAGs
         * @description With `dry_run`, the default, answers with what would be cleared; otherwise with the runs.
         */
        post: operations["clear_dag_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/clearPartitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set the partition key and the partition date of runs to null
         * @description With `dry_run`, the default, only counts. Name a partition, a range of dates, or a run.
         */
        post: operations["clear_dag_run_partitions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/clearTaskInstances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Clear task instances, so that they run again
         * @description Answers with the task instances that were cleared or, with `dry_run`, would be. By default nothing is changed (`dry_run`), and only what failed is selected (`only_failed`).
         */
        post: operations["post_clear_task_instances"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/costAdvice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get suitable resources of the tasks of a DAG, and what its last 30 runs show */
        get: operations["get_cost_advice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs of a DAG, newest first; `~` for all DAGs */
        get: operations["get_dag_runs"];
        put?: never;
        /**
         * Trigger a run
         * @description Everything is optional but the body. Over max_active_runs, and while the DAG is paused, the run waits.
         */
        post: operations["trigger_dag_run"];
        delete?: never;
        options?: never;
        head?: never;
        /** Mark, note and delete several runs; `~` when the entities name their DAGs */
        patch: operations["bulk_dag_runs"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a run */
        get: operations["get_dag_run"];
        put?: never;
        post?: never;
        /**
         * Delete a run with its task instances, their values and logs
         * @description One that is running must be ended first: mark it as failed.
         */
        delete: operations["delete_dag_run"];
        options?: never;
        head?: never;
        /**
         * Mark a run as successful or failed, queue it again, or change its note
         * @description `success` marks its tasks so, too; `failed` ends those that run and skips those that have not. A null state changes nothing, a null note takes it away.
         */
        patch: operations["patch_dag_run"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Clear the task instances of a run, so that they run again
         * @description With `dry_run`, the default, answers with what would be cleared; otherwise with the run.
         */
        post: operations["clear_dag_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/diagnosis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get why a run failed or waits, what that blocks, its history, and what to try
         * @description Codes are stable. Texts of authors and tasks are masked and limited; they are data.
         */
        get: operations["get_dag_run_diagnosis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files of the commit with which a run ran a version */
        get: operations["get_dag_run_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/files/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read parts of the files of the commit with which a run ran a version */
        post: operations["read_dag_run_files"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/hitlDetails": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List questions that tasks ask people; `~` for all DAGs or runs */
        get: operations["get_hitl_details"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/replacedXcomEntries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List cross-task values that a clear has deleted
         * @description Only of runs with a failed try. Ordered by task_id, map_index, key and replaced_at. A large value has its description.
         */
        get: operations["get_replaced_xcom_entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskGroupInstances/{group_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Mark all task instances of a group, or write a note on them
         * @description Groups inside the group belong to it. Answers with the task instances of the group in this run.
         */
        patch: operations["patch_task_group_instances"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskGroupInstances/{group_id}/dry_run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** List the task instances that marking a group would change */
        patch: operations["patch_task_group_instances_dry_run"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List task instances of a run; `~` for all runs, and for all DAGs
         * @description Whole up to 1000 entries. Where there are more, `total_entries` is larger than the list, and a `Link` header with `rel="next"` leads on.
         */
        get: operations["get_task_instances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Mark, note and delete several task instances; `~` when the entities name their DAGs and runs */
        patch: operations["bulk_task_instances"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a task instance */
        get: operations["get_task_instance"];
        put?: never;
        post?: never;
        /**
         * Delete a task instance with its tries and values
         * @description What comes after it does not wait for it any more. Its logs stay.
         */
        delete: operations["delete_task_instance"];
        options?: never;
        head?: never;
        /**
         * Mark a task instance, or write a note on it
         * @description A marked task counts as ended that way; what failed because of it is judged anew. Without `map_index`, all instances of a mapped task.
         */
        patch: operations["patch_task_instance"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an instance of a mapped task; -1 for one that is not mapped */
        get: operations["get_mapped_task_instance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Mark an instance of a mapped task, or write a note on it */
        patch: operations["patch_mapped_task_instance"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}/dependencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the reasons why an instance of a mapped task waits */
        get: operations["get_mapped_task_instance_dependencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}/dry_run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** List the task instances that marking this mapped one would change */
        patch: operations["patch_mapped_task_instance_dry_run"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}/hitlDetails": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the question of a task instance */
        get: operations["get_hitl_detail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Answer the question of a task instance */
        patch: operations["update_hitl_detail"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}/hitlDetails/tries/{try_number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the question of one try of a task instance */
        get: operations["get_hitl_detail_try_detail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}/tries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tries of an instance of a mapped task, oldest first */
        get: operations["get_mapped_task_instance_tries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}/tries/{task_try_number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one try of an instance of a mapped task */
        get: operations["get_mapped_task_instance_try_details"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/dependencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the reasons why a task instance waits */
        get: operations["get_task_instance_dependencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/diagnosis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get why a try of a task instance failed, or why the instance waits */
        get: operations["get_task_instance_diagnosis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/dry_run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** List the task instances that marking this one would change */
        patch: operations["patch_task_instance_dry_run"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/externalLogUrl/{try_number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the address of the log in another system
         * @description 400 where logs are kept here only; `/ui/config` says so as `show_external_log_redirect`.
         */
        get: operations["get_external_log_url"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the links that an operator adds to a task instance; null before the task has made them */
        get: operations["get_extra_links"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/listMapped": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the instances of a mapped task */
        get: operations["get_mapped_task_instances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/logs/{try_number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the log of one try of a task; empty when it has none yet */
        get: operations["get_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/replayValues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a variable or a connection for a try that runs again on another machine
         * @description As for the task, `auth.secret_scoping` decides what its DAG may read. Audited.
         */
        post: operations["post_replay_value"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/state-store": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the state store of a task instance
         * @description In the order of the keys.
         */
        get: operations["list_task_state_store"];
        put?: never;
        post?: never;
        /** Delete all keys of the state store of a task instance */
        delete: operations["clear_task_state_store"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/state-store/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one value of the state store of a task instance */
        get: operations["get_task_state_store"];
        /** Set one value of the state store of a task instance */
        put: operations["set_task_state_store"];
        post?: never;
        /**
         * Delete one key of the state store of a task instance
         * @description A key that does not exist is no error.
         */
        delete: operations["delete_task_state_store"];
        options?: never;
        head?: never;
        /**
         * Change one value of the state store of a task instance
         * @description The value expires when it would have expired before.
         */
        patch: operations["patch_task_state_store"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/tries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tries of a task instance, oldest first */
        get: operations["get_task_instance_tries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/tries/{task_try_number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one try of a task instance */
        get: operations["get_task_instance_try_details"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get what each try of a task instance has used, has cost, and has waited for */
        get: operations["get_task_instance_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/xcomEntries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List cross-task values, without the values; `~` as an id is all
         * @description Default order: the newest run first, then by task_id, map_index and key.
         */
        get: operations["get_xcom_entries"];
        put?: never;
        /** Create a cross-task value */
        post: operations["create_xcom_entry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/xcomEntries/{xcom_key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one cross-task value */
        get: operations["get_xcom_entry"];
        put?: never;
        post?: never;
        /** Delete a cross-task value */
        delete: operations["delete_xcom_entry"];
        options?: never;
        head?: never;
        /** Change a cross-task value */
        patch: operations["update_xcom_entry"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/xcomEntries/{xcom_key}/{*}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one cross-task value
         * @description The same for a key whose slashes are not written as %2F: `*` is what follows the first one.
         */
        get: operations["get_xcom_entry_with_slashes"];
        put?: never;
        post?: never;
        /**
         * Delete a cross-task value
         * @description The same for a key whose slashes are not written as %2F: `*` is what follows the first one.
         */
        delete: operations["delete_xcom_entry_with_slashes"];
        options?: never;
        head?: never;
        /**
         * Change a cross-task value
         * @description The same for a key whose slashes are not written as %2F: `*` is what follows the first one.
         */
        patch: operations["update_xcom_entry_with_slashes"];
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List task instances by a filter that is too long for a URL; `~` for all runs, and for all DAGs */
        post: operations["get_task_instances_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/upstreamAssetEvents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the asset events that caused a run */
        get: operations["get_upstream_asset_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait until a run has ended, and get results of its tasks
         * @description Streams a line with the state at each interval. The last one has the results that were asked for.
         */
        get: operations["wait_dag_run_until_finished"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagRuns/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List runs by a filter that is too long for a URL; `~` for all DAGs */
        post: operations["get_list_dag_runs_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagVersions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List versions of a DAG, newest first; `~` for all DAGs
         * @description Whole up to 1000 entries. Where there are more, `total_entries` is larger than the list, and a `Link` header with `rel="next"` leads on.
         */
        get: operations["get_dag_versions"];
        put?: never;
        /**
         * Register a compiled version
         * @description Idempotent: the content that is current already answers 200 with the version it has; new content answers 201.
         */
        post: operations["post_dag_version"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/dagVersions/{version_number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one version */
        get: operations["get_dag_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a DAG with its settings */
        get: operations["get_dag_details"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/favorite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add a DAG to your favorites */
        post: operations["favorite_dag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a DAG the content of an older version again
         * @description A later commit that still has the content which was undone does not bring it back. A sync that is asked for does.
         */
        post: operations["post_dag_rollback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/spec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the compiled spec: the structured task graph the scheduler runs */
        get: operations["get_dag_spec"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tasks of a DAG */
        get: operations["get_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/tasks/{task_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one task of a DAG */
        get: operations["get_task"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dags/{dag_id}/unfavorite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove a DAG from your favorites */
        post: operations["unfavorite_dag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dagSources/{dag_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the source of a DAG; `Accept: text/plain` for the text alone */
        get: operations["get_dag_source"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dagStats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count runs by DAG and state */
        get: operations["get_dag_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dagTags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tags in use */
        get: operations["get_dag_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/dagWarnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List warnings about DAGs */
        get: operations["list_dag_warnings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/eventLogs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List audit entries */
        get: operations["get_event_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/eventLogs/{event_log_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one audit entry */
        get: operations["get_event_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/ide/compile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compile and register what a file belongs to; problems name file and line */
        post: operations["compile_workspace_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/ide/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the text of a file; saving it needs the tag in `ETag` */
        get: operations["get_workspace_file"];
        /** Save a file: a new one with `If-None-Match: *`, an existing one with its tag in `If-Match` */
        put: operations["put_workspace_file"];
        post?: never;
        /** Delete a file, with its tag in `If-Match`, or an empty folder */
        delete: operations["delete_workspace_file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/ide/rename": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rename or move a file or folder */
        post: operations["rename_workspace_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/ide/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get your latest test from the editor, with its log and its results */
        get: operations["get_workspace_test"];
        put?: never;
        /**
         * Run a task, a DAG or tests of a file in a process of its own; nothing is stored
         * @description A caller has one test at a time. It runs as `svc test` does, as the user that runs tasks. Audited.
         */
        post: operations["post_workspace_test"];
        /** Stop your test; answers when its processes have ended */
        delete: operations["delete_workspace_test"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/ide/workspace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files and folders of the workspace, with the results of their compilation */
        get: operations["get_workspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/importErrors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List files that do not compile */
        get: operations["get_import_errors"];
        put?: never;
        /** Report a file that does not compile; replaces what was reported for it before */
        post: operations["post_import_error"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/importErrors/{import_error_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one import error */
        get: operations["get_import_error"];
        put?: never;
        post?: never;
        /** Delete an import error, because the file is gone or compiles again */
        delete: operations["delete_import_error"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the processes of the control plane */
        get: operations["get_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/monitor/executor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the executors that run tasks */
        get: operations["get_executor"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/monitor/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the health of each component
         * @description Without a token: 401 with the version of the API in the header `x-api-version`.
         */
        get: operations["get_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/parseDagFile/{file_token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Compile a DAG file of the workspace again */
        put: operations["reparse_dag_file"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/platform/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tenants, by name */
        get: operations["get_tenants"];
        put?: never;
        /** Create a tenant with its first administrator */
        post: operations["post_tenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/platform/tenants/{tenant_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one tenant */
        get: operations["get_tenant"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Disable or enable a tenant
         * @description While it is disabled nobody logs in, its tokens are refused, and nothing of it starts; attempts that run go on to their end. The tenant `default` cannot be disabled: 409.
         */
        patch: operations["patch_tenant"];
        trace?: never;
    };
    "/api/v2/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the plugins of all bundles */
        get: operations["get_plugins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/plugins/importErrors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List plugins that do not import */
        get: operations["import_errors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/pools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List pools */
        get: operations["get_pools"];
        put?: never;
        /** Create a pool */
        post: operations["post_pool"];
        delete?: never;
        options?: never;
        head?: never;
        /** Create, update and delete several pools */
        patch: operations["bulk_pools"];
        trace?: never;
    };
    "/api/v2/pools/{pool_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one pool */
        get: operations["get_pool"];
        put?: never;
        post?: never;
        /**
         * Delete a pool
         * @description Tasks that name it wait until there is a pool of this name again; those that run go on.
         */
        delete: operations["delete_pool"];
        options?: never;
        head?: never;
        /** Change a pool */
        patch: operations["patch_pool"];
        trace?: never;
    };
    "/api/v2/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the provider packages of task environments */
        get: operations["get_providers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/serviceAccounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List service accounts, by name */
        get: operations["get_service_accounts"];
        put?: never;
        /**
         * Create a service account; the answer has its token, once
         * @description Its role may hold nothing that the caller does not hold: 403.
         */
        post: operations["post_service_account"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/serviceAccounts/{service_account}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a service account; its token is refused from then on */
        delete: operations["delete_service_account"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/serviceAccounts/{service_account}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace the token of a service account; the old one is refused from then on */
        post: operations["rotate_service_account"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List users, newest first */
        get: operations["get_users"];
        put?: never;
        /** Create a user */
        post: operations["post_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a user
         * @description Ends all sessions of the user at once; what the user did stays in the audit log. The last active administrator of a tenant cannot be deleted, nor can you delete yourself: 409.
         */
        delete: operations["delete_user"];
        options?: never;
        head?: never;
        /**
         * Activate, deactivate, change roles or set a password
         * @description Deactivation and a new password end all sessions of the user at once. The last active administrator of a tenant keeps role and account: 409.
         */
        patch: operations["patch_user"];
        trace?: never;
    };
    "/api/v2/users/{user_id}/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink a user from the account at the identity provider
         * @description Ends all sessions of the user. Whoever next signs in there with its verified e-mail address becomes this user: for an address that was given to another person, or an account that was made anew.
         */
        delete: operations["delete_user_identities"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/valuesForCompile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a variable or a connection while a DAG file is compiled
         * @description Also needs `read:variable` or `read:connection`, and for a secret `write:variable` or `write:connection`. Audited.
         */
        post: operations["post_value_for_compile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/variables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List variables */
        get: operations["get_variables"];
        put?: never;
        /** Create a variable, or change the one with this key */
        post: operations["post_variable"];
        delete?: never;
        options?: never;
        head?: never;
        /** Create, update and delete several variables */
        patch: operations["bulk_variables"];
        trace?: never;
    };
    "/api/v2/variables/{variable_key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one variable */
        get: operations["get_variable"];
        put?: never;
        post?: never;
        /** Delete a variable */
        delete: operations["delete_variable"];
        options?: never;
        head?: never;
        /** Change a variable */
        patch: operations["patch_variable"];
        trace?: never;
    };
    "/api/v2/variables/{variable_key}/{*}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one variable
         * @description The same for a key whose slashes are not written as %2F: `*` is what follows the first one.
         */
        get: operations["get_variable_with_slashes"];
        put?: never;
        post?: never;
        /**
         * Delete a variable
         * @description The same for a key whose slashes are not written as %2F: `*` is what follows the first one.
         */
        delete: operations["delete_variable_with_slashes"];
        options?: never;
        head?: never;
        /**
         * Change a variable
         * @description The same for a key whose slashes are not written as %2F: `*` is what follows the first one.
         */
        patch: operations["patch_variable_with_slashes"];
        trace?: never;
    };
    "/api/v2/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the version of this control plane
         * @description Without a token: 401 with the version of the API in the header `x-api-version`.
         */
        get: operations["get_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List workers, by kind, pool and name */
        get: operations["get_workers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/workers/{worker_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one worker */
        get: operations["get_worker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/workers/{worker_id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain a worker: it takes no more tasks, finishes what it runs, and leaves
         * @description It hears of it within seconds. The one of the subprocess executor serves all tenants and leaves with the control plane only: 409.
         */
        post: operations["drain_worker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/workerTokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tokens with which workers may join, oldest first */
        get: operations["get_worker_tokens"];
        put?: never;
        /**
         * Create a token with which workers may join; the answer has it, once
         * @description A worker serves the queues of its token, or fewer. It gets everything that tasks of these queues get.
         */
        post: operations["post_worker_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/workerTokens/{worker_token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a join token; workers that joined with it get no more tasks */
        delete: operations["delete_worker_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/xcoms/{dag_id}/{dag_run_id}/{task_id}/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one cross-task value */
        get: operations["get_xcom"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/xcoms/{dag_id}/{dag_run_id}/{task_id}/{key}/{*}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one cross-task value
         * @description The same for a key whose slashes are not written as %2F: `*` is what follows the first one.
         */
        get: operations["get_xcom_with_slashes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a token without credentials, while authentication is off in development
         * @description Nothing reads this token: with `auth.dev_no_auth`, every request acts as an administrator.
         */
        get: operations["create_token_all_admins"];
        put?: never;
        /**
         * Log in with username and password
         * @description Also sets the session cookie `_token`, unless the request was made by another site.
         */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/token/cli": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in with username and password, as airflowctl does
         * @description As `POST /auth/token`, without a cookie and with the status of Airflow.
         */
        post: operations["create_token_cli"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/token/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Open the web UI without credentials, while authentication is off in development */
        get: operations["login_all_admins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Is the process alive? */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Can it serve requests? */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who the caller is */
        get: operations["get_current_user_info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/auth/menus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Menu entries the caller may use */
        get: operations["get_auth_menus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/auth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A token for scripts, of the same session: it ends when the user logs out */
        post: operations["generate_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/backfills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List backfills, newest first if not asked otherwise */
        get: operations["list_backfills_ui"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/calendar/{dag_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Runs by day or hour, past and planned */
        get: operations["get_calendar"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Settings of the web UI */
        get: operations["get_ui_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/connections/hook_meta": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Forms of the connection types: those people use most, and those of the providers that tasks have */
        get: operations["hook_meta_data"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/dags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List DAGs with their newest runs */
        get: operations["get_dags_ui"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/dags/{dag_id}/dagRuns/{dag_run_id}/deadlines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deadlines of a run; `~` for all runs, and for all DAGs */
        get: operations["get_dag_run_deadlines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/dags/{dag_id}/dagRuns/{dag_run_id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Durations of runs of the same DAG */
        get: operations["get_dag_run_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/dags/{dag_id}/deadlineAlerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the deadline alerts of a DAG */
        get: operations["get_dag_deadline_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/dags/{dag_id}/latest_run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The newest run of a DAG, or null */
        get: operations["get_latest_run_info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/dashboard/dag_stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many DAGs are active, and whose newest run has failed, runs or waits */
        get: operations["dag_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/dashboard/historical_metrics_data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Runs and task instances by state within a time */
        get: operations["historical_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/dependencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Dependencies between DAGs and assets */
        get: operations["get_dependencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/fleet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What runs and waits now, by queue, and how long tasks and runs waited in the last minutes */
        get: operations["get_fleet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/gantt/{dag_id}/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** When each try of a run waited, started and ended */
        get: operations["get_gantt_data"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/grid/runs/{dag_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Columns of the grid */
        get: operations["get_grid_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/grid/structure/{dag_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rows of the grid: tasks and groups of the newest version and of the versions that the chosen runs used */
        get: operations["get_dag_structure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/grid/ti_summaries/{dag_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Cells of the grid, one line of JSON per run */
        get: operations["get_grid_ti_summaries_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/next_run_assets/{dag_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The assets of a DAG’s schedule, and when each was last updated since the last run */
        get: operations["next_run_assets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/partitioned_dag_runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs that wait for a partition, and those that were created for one */
        get: operations["get_partitioned_dag_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/pending_partitioned_dag_run/{dag_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a run still waits for in its partition */
        get: operations["get_pending_partitioned_dag_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/pending_partitioned_dag_run/{dag_id}/{partition_key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a run still waits for in its partition, as the web UI of Airflow 3.2 asks for it */
        get: operations["get_pending_partitioned_dag_run_by_path"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/structure/structure_data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The graph of a DAG version */
        get: operations["structure_data"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ui/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Teams: there are none; tenants are separate worlds instead */
        get: operations["list_teams"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** AcceptedWebhook */
        AcceptedWebhook: {
            bundle: string;
        };
        /** Alert */
        Alert: {
            acknowledged_at: string | null;
            acknowledged_by: string | null;
            cause: string;
            channel: string;
            dag_id: string;
            due_at: string | null;
            event: string;
            failures: number;
            id: string;
            /** Format: date-time */
            last_at: string;
            last_error: string | null;
            /** @description How many messages were sent */
            messages: number;
            /** Format: date-time */
            opened_at: string;
            over_at: string | null;
            rule: string;
            rule_id: string;
            sent_at: string | null;
            sent_text: string | null;
            /** @enum {unknown} */
            status: "open" | "over";
            task_id: string;
            /** @description Failed tries of the next message */
            tries: number;
        };
        /** AlertCollection */
        AlertCollection: {
            alerts: components["schemas"]["Alert"][];
            total_entries: number;
        };
        /** AlertRule */
        AlertRule: {
            after_tries: number;
            channel: string;
            connection_id: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            dags: string[];
            events: string[];
            failing_since: string | null;
            id: string;
            last_error: string | null;
            last_sent_at: string | null;
            late_factor: number | null;
            late_seconds: number | null;
            muted_until: string | null;
            name: string;
            owners: string[];
            quiet_from: string | null;
            quiet_timezone: string | null;
            quiet_until: string | null;
            /** @description Empty: made by a user. Otherwise the DAG that defines it */
            source: string;
            stale_seconds: number | null;
            stuck_seconds: number | null;
            tags: string[];
            target: string;
            tasks: string[];
        };
        /** AlertRuleCollection */
        AlertRuleCollection: {
            rules: components["schemas"]["AlertRule"][];
            total_entries: number;
        };
        /** AlertTestResult */
        AlertTestResult: {
            /** @description What the channel answered, or why it failed */
            message: string;
            sent: boolean;
        };
        /** ApproveCliRequest */
        ApproveCliRequest: {
            ticket: string;
        };
        /** ApproveCliResponse */
        ApproveCliResponse: {
            /** @description Where the command line waits, with a code for it */
            location: string;
        };
        /** Asset */
        Asset: {
            /** @description Aliases that tasks have attached it to */
            aliases: components["schemas"]["AssetAlias"][];
            /** @description Tasks that read it */
            consuming_tasks: {
                /** Format: date-time */
                created_at: string;
                dag_id: string;
                task_id: string;
                /** Format: date-time */
                updated_at: string;
            }[];
            /** Format: date-time */
            created_at: string;
            extra: {
                [key: string]: unknown;
            } | null;
            group: string;
            id: number;
            last_asset_event: {
                id: number | null;
                timestamp: string | null;
            } | null;
            name: string;
            /** @description Tasks that write it */
            producing_tasks: {
                /** Format: date-time */
                created_at: string;
                dag_id: string;
                task_id: string;
                /** Format: date-time */
                updated_at: string;
            }[];
            /** @description DAGs whose schedule names it */
            scheduled_dags: {
                /** Format: date-time */
                created_at: string;
                dag_id: string;
                /** Format: date-time */
                updated_at: string;
            }[];
            /** Format: date-time */
            updated_at: string;
            uri: string;
            /** @description Always empty: nothing is watched from outside */
            watchers: unknown[];
        };
        /** AssetAlias */
        AssetAlias: {
            group: string;
            id: number;
            name: string;
        };
        /** AssetAliasCollection */
        AssetAliasCollection: {
            asset_aliases: components["schemas"]["AssetAlias"][];
            total_entries: number;
        };
        /** AssetCollection */
        AssetCollection: {
            assets: components["schemas"]["Asset"][];
            total_entries: number;
        };
        /** AssetEvent */
        AssetEvent: {
            asset_id: number;
            /** @description Runs it caused */
            created_dagruns: components["schemas"]["DagRunAssetReference"][];
            extra: {
                [key: string]: unknown;
            } | null;
            group: string | null;
            id: number;
            name: string | null;
            partition_key: string | null;
            source_dag_id: string | null;
            source_map_index: number;
            source_run_id: string | null;
            source_task_id: string | null;
            /** Format: date-time */
            timestamp: string;
            uri: string | null;
        };
        /** AssetEventAccessControl */
        AssetEventAccessControl: {
            /**
             * @description Only true: there are no teams
             * @default true
             */
            allow_global?: boolean;
            /** @description Leave it out: there are no teams */
            consumer_teams?: string[] | null;
        };
        /** AssetEventCollection */
        AssetEventCollection: {
            asset_events: components["schemas"]["AssetEvent"][];
            total_entries: number;
        };
        /** AssetEventCreate */
        AssetEventCreate: {
            access_control?: components["schemas"]["AssetEventAccessControl"] | null;
            asset_id: number;
            extra?: {
                [key: string]: unknown;
            };
            partition_key?: string | null;
        };
        /** AssetStateStoreBody */
        AssetStateStoreBody: {
            /** @description Any JSON value without the keys Airflow encodes other types with */
            value: unknown;
        };
        /** AssetStateStoreCollectionResponse */
        AssetStateStoreCollectionResponse: {
            asset_state_store: components["schemas"]["AssetStateStoreResponse"][];
            total_entries: number;
        };
        /** AssetStateStoreLastUpdatedBy */
        AssetStateStoreLastUpdatedBy: {
            dag_id: string | null;
            /** @enum {unknown} */
            kind: "task" | "watcher" | "api";
            map_index: number | null;
            run_id: string | null;
            task_id: string | null;
        };
        /** AssetStateStoreResponse */
        AssetStateStoreResponse: {
            key: string;
            last_updated_by: components["schemas"]["AssetStateStoreLastUpdatedBy"] | null;
            /** Format: date-time */
            updated_at: string;
            /** @description Any JSON value */
            value: unknown;
        };
        /** Backfill */
        Backfill: {
            completed_at: string | null;
            /** Format: date-time */
            created_at: string;
            dag_display_name: string;
            dag_id: string;
            dag_run_conf: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            from_date: string;
            id: number;
            is_paused: boolean;
            max_active_runs: number;
            /**
             * @description What becomes of dates that have a run: `none` leaves it, `failed` runs it again if it failed, `completed` if it has ended
             * @enum {unknown}
             */
            reprocess_behavior: "none" | "failed" | "completed";
            /** Format: date-time */
            to_date: string;
            /** Format: date-time */
            updated_at: string;
        };
        /** BackfillCollection */
        BackfillCollection: {
            backfills: components["schemas"]["Backfill"][];
            total_entries: number;
        };
        /** BackfillCollectionUi */
        BackfillCollectionUi: {
            backfills: components["schemas"]["Backfill"][];
            total_entries: number;
        };
        /** BackfillCreate */
        BackfillCreate: {
            dag_id: string;
            dag_run_conf?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description The first date; with its time zone
             */
            from_date: string;
            /**
             * @description How many of its runs run at a time; beside the limit of the DAG, not within it
             * @default 10
             */
            max_active_runs?: number;
            /**
             * @default none
             * @enum {unknown}
             */
            reprocess_behavior?: "none" | "failed" | "completed";
            /**
             * @description Newest first
             * @default false
             */
            run_backwards?: boolean;
            run_on_latest_version?: boolean | null;
            /**
             * Format: date-time
             * @description The last date, included; what is not due yet is left out
             */
            to_date: string;
        };
        /** BackfillDryRun */
        BackfillDryRun: {
            backfills: {
                logical_date: string | null;
                partition_date: string | null;
                partition_key: string | null;
            }[];
            total_entries: number;
        };
        /** BulkActionResponse */
        BulkActionResponse: {
            errors: {
                error: string;
                status_code: number;
            }[];
            success: string[];
        };
        /** BulkConnectionsBody */
        BulkConnectionsBody: {
            actions: ({
                /** @enum {string} */
                action: "create" | "update" | "delete";
            } & (components["schemas"]["BulkCreateConnections"] | components["schemas"]["BulkUpdateConnections"] | components["schemas"]["BulkDeleteConnections"]))[];
        };
        /** BulkCreateConnections */
        BulkCreateConnections: {
            /** @enum {string} */
            action: "create";
            /**
             * @description What to do with an entity that exists
             * @default fail
             * @enum {unknown}
             */
            action_on_existence?: "fail" | "skip" | "overwrite";
            entities: components["schemas"]["ConnectionBody"][];
        };
        /** BulkCreateDAGRuns */
        BulkCreateDAGRuns: {
            /** @enum {string} */
            action: "create";
            /**
             * @description What to do with an entity that exists
             * @default fail
             * @enum {unknown}
             */
            action_on_existence?: "fail" | "skip" | "overwrite";
            entities: components["schemas"]["BulkDAGRun"][];
        };
        /** BulkCreatePools */
        BulkCreatePools: {
            /** @enum {string} */
            action: "create";
            /**
             * @description What to do with an entity that exists
             * @default fail
             * @enum {unknown}
             */
            action_on_existence?: "fail" | "skip" | "overwrite";
            entities: components["schemas"]["PoolBody"][];
        };
        /** BulkCreateTaskInstances */
        BulkCreateTaskInstances: {
            /** @enum {string} */
            action: "create";
            /**
             * @description What to do with an entity that exists
             * @default fail
             * @enum {unknown}
             */
            action_on_existence?: "fail" | "skip" | "overwrite";
            entities: components["schemas"]["BulkTaskInstance"][];
        };
        /** BulkCreateVariables */
        BulkCreateVariables: {
            /** @enum {string} */
            action: "create";
            /**
             * @description What to do with an entity that exists
             * @default fail
             * @enum {unknown}
             */
            action_on_existence?: "fail" | "skip" | "overwrite";
            entities: components["schemas"]["VariableBody"][];
        };
        /** BulkDAGRun */
        BulkDAGRun: {
            dag_id?: string | null;
            dag_run_id: string;
            note?: string | null;
            state?: ("queued" | "success" | "failed") | null;
        };
        /** BulkDAGRunClear */
        BulkDAGRunClear: {
            /** @description Only their names count */
            dag_runs?: components["schemas"]["BulkDAGRun"][];
            /**
             * @description Only say which task instances would be cleared
             * @default true
             */
            dry_run?: boolean;
            note?: string | null;
            /**
             * @description Only those that failed or could not run for it
             * @default false
             */
            only_failed?: boolean;
            /**
             * @description Only tasks that the newest version has and the run has not
             * @default false
             */
            only_new?: boolean;
            partition_date_end?: string | null;
            partition_date_start?: string | null;
            partition_key?: string | null;
            run_on_latest_version?: boolean | null;
        };
        /** BulkDAGRunsBody */
        BulkDAGRunsBody: {
            actions: ({
                /** @enum {string} */
                action: "create" | "update" | "delete";
            } & (components["schemas"]["BulkCreateDAGRuns"] | components["schemas"]["BulkUpdateDAGRuns"] | components["schemas"]["BulkDeleteDAGRuns"]))[];
        };
        /** BulkDeleteConnections */
        BulkDeleteConnections: {
            /** @enum {string} */
            action: "delete";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: (components["schemas"]["ConnectionName"] | string)[];
        };
        /** BulkDeleteDAGRuns */
        BulkDeleteDAGRuns: {
            /** @enum {string} */
            action: "delete";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: (components["schemas"]["BulkDAGRun"] | string)[];
        };
        /** BulkDeletePools */
        BulkDeletePools: {
            /** @enum {string} */
            action: "delete";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: (components["schemas"]["PoolBody"] | string)[];
        };
        /** BulkDeleteTaskInstances */
        BulkDeleteTaskInstances: {
            /** @enum {string} */
            action: "delete";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: (components["schemas"]["BulkTaskInstance"] | string)[];
        };
        /** BulkDeleteVariables */
        BulkDeleteVariables: {
            /** @enum {string} */
            action: "delete";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: (components["schemas"]["VariableBody"] | string)[];
        };
        /** BulkPoolsBody */
        BulkPoolsBody: {
            actions: ({
                /** @enum {string} */
                action: "create" | "update" | "delete";
            } & (components["schemas"]["BulkCreatePools"] | components["schemas"]["BulkUpdatePools"] | components["schemas"]["BulkDeletePools"]))[];
        };
        /** BulkResponse */
        BulkResponse: {
            create: components["schemas"]["BulkActionResponse"] | null;
            delete: components["schemas"]["BulkActionResponse"] | null;
            update: components["schemas"]["BulkActionResponse"] | null;
        };
        /** BulkTaskInstance */
        BulkTaskInstance: {
            /** @description Default: that of the path */
            dag_id?: string | null;
            /** @description Default: that of the path */
            dag_run_id?: string | null;
            /**
             * @description Also every task after it
             * @default false
             */
            include_downstream?: boolean;
            /**
             * @description Also in every run of a later logical date
             * @default false
             */
            include_future?: boolean;
            /**
             * @description Also in every run of an earlier logical date
             * @default false
             */
            include_past?: boolean;
            /**
             * @description Also every task before it
             * @default false
             */
            include_upstream?: boolean;
            map_index?: number | null;
            new_state?: ("success" | "failed" | "skipped") | null;
            note?: string | null;
            task_id: string;
        };
        /** BulkTaskInstancesBody */
        BulkTaskInstancesBody: {
            actions: ({
                /** @enum {string} */
                action: "create" | "update" | "delete";
            } & (components["schemas"]["BulkCreateTaskInstances"] | components["schemas"]["BulkUpdateTaskInstances"] | components["schemas"]["BulkDeleteTaskInstances"]))[];
        };
        /** BulkUpdateConnections */
        BulkUpdateConnections: {
            /** @enum {string} */
            action: "update";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: components["schemas"]["ConnectionBody"][];
            update_mask?: string[] | null;
        };
        /** BulkUpdateDAGRuns */
        BulkUpdateDAGRuns: {
            /** @enum {string} */
            action: "update";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: components["schemas"]["BulkDAGRun"][];
            update_mask?: string[] | null;
        };
        /** BulkUpdatePools */
        BulkUpdatePools: {
            /** @enum {string} */
            action: "update";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: components["schemas"]["PoolBody"][];
            update_mask?: string[] | null;
        };
        /** BulkUpdateTaskInstances */
        BulkUpdateTaskInstances: {
            /** @enum {string} */
            action: "update";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: components["schemas"]["BulkTaskInstance"][];
            update_mask?: string[] | null;
        };
        /** BulkUpdateVariables */
        BulkUpdateVariables: {
            /** @enum {string} */
            action: "update";
            /**
             * @description What to do about an entity that does not exist
             * @default fail
             * @enum {unknown}
             */
            action_on_non_existence?: "fail" | "skip";
            entities: components["schemas"]["VariableBody"][];
            update_mask?: string[] | null;
        };
        /** BulkVariablesBody */
        BulkVariablesBody: {
            actions: ({
                /** @enum {string} */
                action: "create" | "update" | "delete";
            } & (components["schemas"]["BulkCreateVariables"] | components["schemas"]["BulkUpdateVariables"] | components["schemas"]["BulkDeleteVariables"]))[];
        };
        /** Bundle */
        Bundle: {
            adopt: boolean;
            commit_url: string | null;
            conn_id: string | null;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            current: components["schemas"]["CurrentDeployment"] | null;
            folder: string;
            /**
             * @description `folder`: a folder on the host of the control plane
             * @enum {unknown}
             */
            kind: "git" | "folder";
            name: string;
            /**
             * @description `refuse`: a commit with a broken file changes nothing. `partial`: the rest of it is deployed, as Airflow does
             * @enum {unknown}
             */
            on_error: "refuse" | "partial";
            poll_seconds: number;
            ref: string;
            sync: components["schemas"]["BundleSync"];
            url: string;
            webhook_conn_id: string | null;
        };
        /** BundleBody */
        BundleBody: {
            /** @description Takes over DAGs that `svc deploy` has registered */
            adopt?: boolean;
            commit_url?: string | null;
            conn_id?: string | null;
            /** @description The DAGs are below this folder of the source; empty: in the source itself */
            folder?: string;
            /**
             * @description `folder`: a folder on the host of the control plane
             * @enum {unknown}
             */
            kind: "git" | "folder";
            /** @description Letters, digits, dots, dashes and underscores; begins with a letter or a digit */
            name: string;
            /**
             * @description `refuse`: a commit with a broken file changes nothing. `partial`: the rest of it is deployed, as Airflow does
             * @enum {unknown}
             */
            on_error?: "refuse" | "partial";
            /** @description How often the source is looked at; 0: only when a sync is asked for */
            poll_seconds?: number;
            /** @description A branch or tag; empty: the default branch */
            ref?: string;
            /** @description `https://…`, `ssh://…` or `user@host:path`, without a password; a path on the host needs `bundles.allowed_paths` */
            url: string;
            webhook_conn_id?: string | null;
        };
        /** BundleCollection */
        BundleCollection: {
            bundles: components["schemas"]["Bundle"][];
            total_entries: number;
        };
        /** BundleProblem */
        BundleProblem: {
            /** @description Empty: of the whole commit */
            file: string;
            line: number | null;
            message: string;
        };
        /** BundleSync */
        BundleSync: {
            /** @description The last request that a sync has answered */
            answered: number;
            checked_at: string | null;
            next_check_at: string | null;
            problems: components["schemas"]["BundleProblem"][];
            /** @description How many syncs were asked for */
            requested: number;
            /**
             * @description Of the last sync. `refused`: the commit is broken; `failed`: the source could not be read
             * @enum {unknown}
             */
            state: "waiting" | "running" | "done" | "refused" | "failed";
            /** @description What it is doing, or how it ended */
            text: string;
            version: string | null;
        };
        /** BundleUpdate */
        BundleUpdate: {
            /** @description Takes over DAGs that `svc deploy` has registered */
            adopt?: boolean;
            commit_url?: string | null;
            conn_id?: string | null;
            /** @description The DAGs are below this folder of the source; empty: in the source itself */
            folder?: string;
            /**
             * @description `refuse`: a commit with a broken file changes nothing. `partial`: the rest of it is deployed, as Airflow does
             * @enum {unknown}
             */
            on_error?: "refuse" | "partial";
            /** @description How often the source is looked at; 0: only when a sync is asked for */
            poll_seconds?: number;
            /** @description A branch or tag; empty: the default branch */
            ref?: string;
            /** @description `https://…`, `ssh://…` or `user@host:path`, without a password; a path on the host needs `bundles.allowed_paths` */
            url?: string;
            webhook_conn_id?: string | null;
        };
        /** ChangePasswordRequest */
        ChangePasswordRequest: {
            current_password: string;
            new_password: string;
        };
        /** ClearedPartitions */
        ClearedPartitions: {
            dag_runs_cleared: number;
            dry_run: boolean;
            task_instances_cleared: number;
        };
        /** ClearPartitions */
        ClearPartitions: {
            /**
             * @description Clear the task instances of the runs, too
             * @default false
             */
            clear_task_instances?: boolean;
            /**
             * @description Only count
             * @default true
             */
            dry_run?: boolean;
            partition_date_end?: string | null;
            partition_date_start?: string | null;
            partition_key?: string | null;
            run_id?: string | null;
        };
        /** ClearTaskInstanceCollection */
        ClearTaskInstanceCollection: {
            task_instances: (components["schemas"]["TaskInstance"] | components["schemas"]["NewTask"])[];
            total_entries: number;
        };
        /** ClearTaskInstancesBody */
        ClearTaskInstancesBody: {
            dag_run_id?: string | null;
            /**
             * @description Only say what would be cleared; false does it
             * @default true
             */
            dry_run?: boolean;
            end_date?: string | null;
            /**
             * @description Also every task after it
             * @default false
             */
            include_downstream?: boolean;
            /**
             * @description Also in every run of a later logical date
             * @default false
             */
            include_future?: boolean;
            /**
             * @description Also in every run of an earlier logical date
             * @default false
             */
            include_past?: boolean;
            /**
             * @description Also every task before it
             * @default false
             */
            include_upstream?: boolean;
            note?: string | null;
            /**
             * @description Only what failed, or could not run because of a failure
             * @default true
             */
            only_failed?: boolean;
            /**
             * @description Not supported: true is refused
             * @default false
             * @enum {boolean}
             */
            only_running?: false;
            /**
             * @description Refuse, with 409, when one of them is running
             * @default false
             */
            prevent_running_task?: boolean;
            /**
             * @description Open finished runs again, so that what was cleared runs
             * @default true
             */
            reset_dag_runs?: boolean;
            run_on_latest_version?: boolean | null;
            start_date?: string | null;
            task_ids?: (string | (string | number)[])[] | null;
        };
        /** CliTokenRequest */
        CliTokenRequest: {
            code: string;
            verifier: string;
        };
        /** ComponentHealth */
        ComponentHealth: {
            latest_dag_processor_heartbeat: string | null;
            latest_scheduler_heartbeat: string | null;
            latest_triggerer_heartbeat: string | null;
            status: string | null;
        };
        /** Config */
        Config: {
            sections: {
                name: string;
                options: {
                    key: string;
                    value: string;
                }[];
            }[];
        };
        /** ConfigResponse */
        ConfigResponse: {
            auto_refresh_interval: number;
            dashboard_alert: {
                category: string;
                text: string;
            }[];
            default_wrap: boolean;
            enable_swagger_ui: boolean;
            external_log_name: string | null;
            fallback_page_limit: number;
            hide_paused_dags_by_default: boolean;
            instance_name: string;
            multi_team: boolean;
            require_confirmation_dag_change: boolean;
            /** @description A request says itself whether runs take the newest version */
            rerun_with_latest_version: null;
            show_external_log_redirect: boolean;
            test_connection: string;
            theme: null;
        };
        /**
         * Connection
         * @description The password is never returned.
         */
        Connection: {
            conn_type: string;
            connection_id: string;
            description: string | null;
            extra: string | null;
            host: string | null;
            login: string | null;
            port: number | null;
            schema: string | null;
            team_name: string | null;
        };
        /**
         * ConnectionBody
         * @description A field that is left out keeps its stored value; an empty string clears it.
         */
        ConnectionBody: {
            /** @description postgres, http, aws, … */
            conn_type: string;
            connection_id: string;
            description?: string | null;
            extra?: string | null;
            host?: string | null;
            login?: string | null;
            password?: string | null;
            /** @description Null or empty clears it */
            port?: number | null | "";
            schema?: string | null;
            /** @description Leave it out: there are no teams */
            team_name?: string | null;
        };
        /** ConnectionCollection */
        ConnectionCollection: {
            connections: components["schemas"]["Connection"][];
            total_entries: number;
        };
        /** ConnectionHookMeta */
        ConnectionHookMeta: {
            connection_type: string | null;
            default_conn_name: string | null;
            extra_fields: {
                [key: string]: unknown;
            } | null;
            hook_class_name: string | null;
            hook_name: string;
            standard_fields: {
                description: {
                    hidden: boolean;
                    placeholder: string | null;
                    title: string | null;
                } | null;
                host: {
                    hidden: boolean;
                    placeholder: string | null;
                    title: string | null;
                } | null;
                login: {
                    hidden: boolean;
                    placeholder: string | null;
                    title: string | null;
                } | null;
                password: {
                    hidden: boolean;
                    placeholder: string | null;
                    title: string | null;
                } | null;
                port: {
                    hidden: boolean;
                    placeholder: string | null;
                    title: string | null;
                } | null;
                url_schema: {
                    hidden: boolean;
                    placeholder: string | null;
                    title: string | null;
                } | null;
            } | null;
        };
        /** ConnectionName */
        ConnectionName: {
            /** @description postgres, http, aws, … */
            conn_type?: string;
            connection_id: string;
            description?: string | null;
            extra?: string | null;
            host?: string | null;
            login?: string | null;
            password?: string | null;
            /** @description Null or empty clears it */
            port?: number | null | "";
            schema?: string | null;
            /** @description Leave it out: there are no teams */
            team_name?: string | null;
        };
        /** ConnectionTestQueued */
        ConnectionTestQueued: {
            connection_id: string;
            /** @enum {unknown} */
            state: "pending" | "success" | "failed";
            /** @description For the header `Airflow-Connection-Test-Token` of the request for the result */
            token: string;
        };
        /**
         * ConnectionTestRequest
         * @description A field that is left out keeps its stored value; an empty string clears it.
         */
        ConnectionTestRequest: {
            /**
             * @description Save the connection if the test succeeds
             * @default false
             */
            commit_on_success?: boolean;
            /** @description postgres, http, aws, … */
            conn_type: string;
            connection_id: string;
            description?: string | null;
            /** @description Leave it out: workers of this process test */
            executor?: string | null;
            extra?: string | null;
            host?: string | null;
            login?: string | null;
            password?: string | null;
            /** @description Null or empty clears it */
            port?: number | null | "";
            /** @description Leave it out: workers of this process test */
            queue?: string | null;
            schema?: string | null;
            /** @description Leave it out: there are no teams */
            team_name?: string | null;
        };
        /** ConnectionTestResponse */
        ConnectionTestResponse: {
            /** @description What the hook says, secrets as `***` */
            message: string;
            status: boolean;
        };
        /** ConnectionTestState */
        ConnectionTestState: {
            connection_id: string;
            /** Format: date-time */
            created_at: string;
            result_message: string | null;
            /** @enum {unknown} */
            state: "pending" | "success" | "failed";
            /** @description For the header `Airflow-Connection-Test-Token` of the request for the result */
            token: string;
        };
        /**
         * ConnectionUpdate
         * @description A field that is left out keeps its stored value; an empty string clears it.
         */
        ConnectionUpdate: {
            /** @description postgres, http, aws, … */
            conn_type: string;
            connection_id?: string;
            description?: string | null;
            extra?: string | null;
            host?: string | null;
            login?: string | null;
            password?: string | null;
            /** @description Null or empty clears it */
            port?: number | null | "";
            schema?: string | null;
            /** @description Leave it out: there are no teams */
            team_name?: string | null;
        };
        /** Cost */
        Cost: {
            by: string;
            currency: string | null;
            /** @description The most expensive first */
            groups: components["schemas"]["CostGroup"][];
            /**
             * Format: date
             * @description The first day that counts, in UTC
             */
            since: string;
            total: components["schemas"]["CostTotal"];
            total_entries: number;
        };
        /** CostAdvice */
        CostAdvice: {
            tasks: components["schemas"]["TaskCostAdvice"][];
            total_entries: number;
        };
        /** CostGroup */
        CostGroup: {
            cost: number | null;
            /** @description Seconds of processors */
            cpu_seconds: number;
            /** @description GiB of memory times seconds: the peak of each attempt times its time */
            gib_seconds: number;
            /** @description Empty for DAGs without an owner or tag */
            key: string;
            /** @description The largest private memory of a try */
            memory_bytes: number;
            /** @description Bytes read from storage */
            read_bytes: number;
            /** @description Seconds that processes had these tasks */
            seconds: number;
            /** @description Tries that have ended and have reported their usage */
            tries: number;
            waits: components["schemas"]["CostWait"][] | null;
            /** @description Bytes written to storage */
            written_bytes: number;
        };
        /**
         * CostTotal
         * @description Of all DAGs. Groups of owners, tags and assets may overlap, or leave out tasks
         */
        CostTotal: {
            cost: number | null;
            /** @description Seconds of processors */
            cpu_seconds: number;
            /** @description GiB of memory times seconds: the peak of each attempt times its time */
            gib_seconds: number;
            /** @description The largest private memory of a try */
            memory_bytes: number;
            /** @description Bytes read from storage */
            read_bytes: number;
            /** @description Seconds that processes had these tasks */
            seconds: number;
            /** @description Tries that have ended and have reported their usage */
            tries: number;
            /** @description Bytes written to storage */
            written_bytes: number;
        };
        /** CostWait */
        CostWait: {
            /** @description What the reason means, as a sentence */
            meaning: string;
            /** @description A wait reason, or `slot` or `dispatched` */
            reason: string;
            seconds: number;
        };
        /** CreateAlertRuleBody */
        CreateAlertRuleBody: {
            /**
             * @description Of `retried`: from which failed try on
             * @default 1
             */
            after_tries?: number;
            /** @enum {unknown} */
            channel: "webhook" | "slack_webhook" | "slack_bot" | "pagerduty" | "opsgenie" | "teams" | "email";
            /** @description The connection with address and secret */
            connection_id: string;
            /**
             * @description Ids of DAGs, with `*` and `?`; of broken files their names. Empty: all
             * @default []
             */
            dags?: string[];
            /** @description `recovered` adds a message when an alert is over */
            events: ("failed" | "retried" | "lost_worker" | "broken_file" | "late" | "stuck" | "stale_schedule" | "recovered")[];
            /** @description Of `late`: a run that takes this many times its own 95th percentile. Default: 2, without `late_seconds` */
            late_factor?: number;
            /** @description Of `late`: a run that is not finished this long after it was due */
            late_seconds?: number;
            name: string;
            /**
             * @description Owners of the DAG, one of which must match. Empty: any
             * @default []
             */
            owners?: string[];
            /** @description Start of the quiet hours, such as 22:00 */
            quiet_from?: string;
            /** @description Default: UTC */
            quiet_timezone?: string;
            /** @description End of the quiet hours. Messages wait until then */
            quiet_until?: string;
            /** @description Of `stale_schedule`: a next run that is overdue by this much. Default: 600 */
            stale_seconds?: number;
            /** @description Of `stuck`: a task that waits this long for a worker or a slot. Default: 900 */
            stuck_seconds?: number;
            /**
             * @description Tags of the DAG, one of which must match. Empty: any
             * @default []
             */
            tags?: string[];
            /**
             * @description The channel of a Slack bot, or mail addresses, separated by commas
             * @default
             */
            target?: string;
            /**
             * @description Ids of tasks. Empty: any
             * @default []
             */
            tasks?: string[];
        };
        /** CreateServiceAccountRequest */
        CreateServiceAccountRequest: {
            /**
             * @description Seconds until the token expires: 90 days unless given, a year at most
             * @default 7776000
             */
            expires_in?: number;
            /** @description Small letters, digits, `.`, `-` and `_`, beginning with a letter or a digit */
            name: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "editor" | "admin";
        };
        /** CreateTenantRequest */
        CreateTenantRequest: {
            /**
             * e-mail address
             * @description Stored in lower case
             */
            admin_email: string;
            admin_password: string;
            /** @description Small letters, digits, `-` and `_`, beginning with a letter or a digit */
            name: string;
        };
        /** CreateUserRequest */
        CreateUserRequest: {
            /**
             * e-mail address
             * @description Stored in lower case
             */
            email: string;
            /** @description May be left out where people sign in at an identity provider, by a verified e-mail address */
            password?: string;
            /** @description Names of existing roles */
            roles?: ("viewer" | "operator" | "editor" | "admin")[];
        };
        /** CreateWorkerTokenBody */
        CreateWorkerTokenBody: {
            comment?: string;
            /** @description Seconds for which workers may join with it; without it, until it is revoked */
            expires_in?: number;
            queues: string[];
        };
        /** CurrentDeployment */
        CurrentDeployment: {
            author: string;
            /** Format: date-time */
            deployed_at: string;
            deployment: number;
            message: string;
            url: string | null;
            /** @description The commit */
            version: string;
        };
        /** DAG */
        DAG: {
            allowed_run_types: string[] | null;
            bundle_name: string | null;
            bundle_version: string | null;
            catchup: boolean;
            dag_display_name: string;
            dag_id: string;
            description: string | null;
            file_token: string;
            fileloc: string;
            has_import_errors: boolean;
            has_task_concurrency_limits: boolean;
            /** @description The opposite of is_stale */
            is_active: boolean;
            /** @description A backfill of it is possible */
            is_backfillable: boolean;
            is_paused: boolean;
            /** @description Its file is gone or names it no more */
            is_stale: boolean;
            last_expired: string | null;
            last_parse_duration: number | null;
            last_parsed_time: string | null;
            max_active_runs: number;
            max_active_tasks: number;
            max_consecutive_failed_dag_runs: number;
            newest_failed_run?: components["schemas"]["NewestRun"] | null;
            newest_run?: components["schemas"]["NewestRun"] | null;
            next_dagrun: string | null;
            next_dagrun_data_interval_end: string | null;
            next_dagrun_data_interval_start: string | null;
            next_dagrun_logical_date: string | null;
            next_dagrun_run_after: string | null;
            owners: string[];
            relative_fileloc: string | null;
            schedule_interval: ({
                /** @enum {string} */
                __type: "CronExpression";
                value: string;
            } | {
                /** @enum {string} */
                __type: "TimeDelta";
                days: number;
                microseconds: number;
                seconds: number;
            }) | null;
            tags: components["schemas"]["DagTag"][];
            timetable_description: string | null;
            timetable_partitioned: boolean;
            /** @description Its schedule repeats */
            timetable_periodic: boolean;
            timetable_summary: string | null;
        };
        /** DagArtifact */
        DagArtifact: {
            /** @description The project or folder the DAG comes from; default: `dags` */
            bundle_name?: string;
            bundle_url?: string;
            /** @description For example a commit */
            bundle_version?: string;
            /** @description What works differently than on Airflow: warnings of the kind `airflow difference` */
            differences?: string[];
            /** @description Where the author keeps the file */
            fileloc?: string;
            /** @description The image tasks run in, pinned by digest */
            image?: string;
            parse_seconds?: number;
            /** @description Provider packages of the environment it was compiled in, as their metadata describes them. What workers report counts more */
            providers?: ({
                documentation_url?: string | null;
                name: string;
                summary: string;
                version: string;
            } & {
                [key: string]: unknown;
            })[];
            /** @description The compiled spec; see docs/compiled-spec.md */
            spec: {
                [key: string]: unknown;
            };
            /** @description Variables and connections that the file read while it was compiled */
            values_read?: {
                /** @description As the control plane gave it */
                fingerprint: string;
                kind: "variable" | "connection";
                name: string;
            }[];
            /** @description What the compiler warned of */
            warnings?: string[];
        };
        /** DagChange */
        DagChange: {
            after: number | null;
            before: number | null;
            /** @enum {unknown} */
            change: "added" | "changed" | "removed";
        };
        /** DAGCollection */
        DAGCollection: {
            dags: components["schemas"]["DAG"][];
            total_entries: number;
        };
        /** DAGDetails */
        DAGDetails: {
            active_runs_count: number;
            allowed_run_types: string[] | null;
            asset_expression: unknown | null;
            bundle_name: string | null;
            bundle_version: string | null;
            catchup: boolean;
            concurrency: number;
            dag_display_name: string;
            dag_id: string;
            dag_run_timeout: string | null;
            default_args: {
                [key: string]: unknown;
            } | null;
            description: string | null;
            doc_md: string | null;
            end_date: string | null;
            file_token: string;
            fileloc: string;
            has_import_errors: boolean;
            has_task_concurrency_limits: boolean;
            /** @description The opposite of is_stale */
            is_active: boolean;
            /** @description A backfill of it is possible */
            is_backfillable: boolean;
            is_favorite: boolean;
            is_paused: boolean;
            is_paused_upon_creation: boolean | null;
            /** @description Its file is gone or names it no more */
            is_stale: boolean;
            last_expired: string | null;
            last_parse_duration: number | null;
            last_parsed: string | null;
            last_parsed_time: string | null;
            latest_dag_version: components["schemas"]["DagVersion"] | null;
            max_active_runs: number;
            max_active_tasks: number;
            max_consecutive_failed_dag_runs: number;
            next_dagrun: string | null;
            next_dagrun_data_interval_end: string | null;
            next_dagrun_data_interval_start: string | null;
            next_dagrun_logical_date: string | null;
            next_dagrun_run_after: string | null;
            owner_links: {
                [key: string]: string;
            } | null;
            owners: string[];
            params: {
                [key: string]: {
                    description: string | null;
                    schema: {
                        [key: string]: unknown;
                    };
                    source: string | null;
                    value: unknown;
                };
            } | null;
            relative_fileloc: string | null;
            render_template_as_native_obj: boolean;
            rerun_with_latest_version: boolean | null;
            schedule_interval: ({
                /** @enum {string} */
                __type: "CronExpression";
                value: string;
            } | {
                /** @enum {string} */
                __type: "TimeDelta";
                days: number;
                microseconds: number;
                seconds: number;
            }) | null;
            start_date: string | null;
            tags: components["schemas"]["DagTag"][];
            template_search_path: string[] | null;
            timetable_description: string | null;
            timetable_partitioned: boolean;
            /** @description Its schedule repeats */
            timetable_periodic: boolean;
            timetable_summary: string | null;
            timezone: string | null;
        };
        /** DagRollback */
        DagRollback: {
            bundle_name: string | null;
            dag_id: string;
            deployment: number | null;
            /** @description The version that was current before */
            from: number;
            /** @description The version whose content it has */
            repeats: number;
            /** @description The new current version, with the content of the older one */
            version: number;
        };
        /** DagRollbackBody */
        DagRollbackBody: {
            /** @description The version to go back to; default: the newest one before the current content */
            to?: number;
        };
        /** DAGRun */
        DAGRun: {
            bundle_version: string | null;
            conf: {
                [key: string]: unknown;
            };
            dag_display_name: string;
            dag_id: string;
            dag_run_id: string;
            dag_versions: components["schemas"]["DagVersion"][];
            data_interval_end: string | null;
            data_interval_start: string | null;
            duration: number | null;
            end_date: string | null;
            last_scheduling_decision: string | null;
            logical_date: string | null;
            note: string | null;
            partition_date: string | null;
            partition_key: string | null;
            queued_at: string | null;
            /**
             * Format: date-time
             * @description Not started before this
             */
            run_after: string;
            /** @enum {unknown} */
            run_type: "backfill" | "scheduled" | "manual" | "asset_triggered" | "asset_materialization";
            start_date: string | null;
            /** @enum {unknown} */
            state: "queued" | "running" | "success" | "failed";
            triggered_by: string | null;
            triggering_user_name: string | null;
        };
        /** DagRunAssetReference */
        DagRunAssetReference: {
            dag_id: string;
            data_interval_end: string | null;
            data_interval_start: string | null;
            end_date: string | null;
            logical_date: string | null;
            partition_key: string | null;
            run_id: string;
            /**
             * Format: date-time
             * @description Until the run starts, the moment it was queued
             */
            start_date: string;
            state: string;
            /** @description It is the newest of the events that the run consumed */
            triggering: boolean;
        };
        /** DAGRunClear */
        DAGRunClear: {
            /**
             * @description Only say which task instances would be cleared
             * @default true
             */
            dry_run?: boolean;
            note?: string | null;
            /**
             * @description Only those that failed or could not run for it
             * @default false
             */
            only_failed?: boolean;
            /**
             * @description Only tasks that the newest version has and the run has not
             * @default false
             */
            only_new?: boolean;
            run_on_latest_version?: boolean | null;
        };
        /** DAGRunCollection */
        DAGRunCollection: {
            dag_runs: components["schemas"]["DAGRun"][];
            next_cursor: string | null;
            previous_cursor: string | null;
            total_entries: number | null;
            /** @description A total is never capped: always null */
            total_entries_limit: null;
        };
        /** DAGRunCreate */
        DAGRunCreate: {
            conf?: {
                [key: string]: unknown;
            } | null;
            /** @description Letters, digits and `_.~:+-`, not as runs of other types begin; default: `manual__` and the time */
            dag_run_id?: string | null;
            data_interval_end?: string | null;
            data_interval_start?: string | null;
            logical_date?: string | null;
            note?: string | null;
            partition_key?: string | null;
            run_after?: string | null;
        };
        /** DagRunFileParts */
        DagRunFileParts: {
            /** @description In base64, compressed by zlib: as many of the first that were asked for as fit, at least one */
            parts: string[];
        };
        /** DagRunFilePartsBody */
        DagRunFilePartsBody: {
            parts: string[];
        };
        /** DagRunFiles */
        DagRunFiles: {
            manifest: string | null;
            tree: string | null;
        };
        /** DAGRunsBatch */
        DAGRunsBatch: {
            conf_contains?: string | null;
            dag_ids?: string[] | null;
            duration_gt?: number | null;
            duration_gte?: number | null;
            duration_lt?: number | null;
            duration_lte?: number | null;
            end_date_gt?: string | null;
            end_date_gte?: string | null;
            end_date_lt?: string | null;
            end_date_lte?: string | null;
            logical_date_gt?: string | null;
            logical_date_gte?: string | null;
            logical_date_lt?: string | null;
            logical_date_lte?: string | null;
            order_by?: ("id" | "-id" | "state" | "-state" | "dag_id" | "-dag_id" | "run_id" | "-run_id" | "dag_run_id" | "-dag_run_id" | "logical_date" | "-logical_date" | "run_after" | "-run_after" | "start_date" | "-start_date" | "end_date" | "-end_date" | "updated_at" | "-updated_at" | "conf" | "-conf" | "duration" | "-duration") | null;
            /** @default 100 */
            page_limit?: number;
            /** @default 0 */
            page_offset?: number;
            run_after_gt?: string | null;
            run_after_gte?: string | null;
            run_after_lt?: string | null;
            run_after_lte?: string | null;
            start_date_gt?: string | null;
            start_date_gte?: string | null;
            start_date_lt?: string | null;
            start_date_lte?: string | null;
            states?: ("queued" | "running" | "success" | "failed")[] | null;
            updated_at_gt?: string | null;
            updated_at_gte?: string | null;
            updated_at_lt?: string | null;
            updated_at_lte?: string | null;
        };
        /** DagRunStats */
        DagRunStats: {
            duration: components["schemas"]["DurationStats"] | null;
        };
        /** DAGRunUpdate */
        DAGRunUpdate: {
            note?: string | null;
            state?: ("queued" | "success" | "failed") | null;
        };
        /** DagSource */
        DagSource: {
            /** @description The source text; for a version registered without it, the compiled spec */
            content: string;
            dag_display_name: string;
            dag_id: string;
            version_number: number;
        };
        /** DagStats */
        DagStats: {
            dag_display_name: string;
            dag_id: string;
            /** @description Every state, also those that no run is in */
            stats: {
                count: number;
                /** @enum {unknown} */
                state: "queued" | "running" | "success" | "failed";
            }[];
        };
        /** DagStatsCollection */
        DagStatsCollection: {
            dags: components["schemas"]["DagStats"][];
            total_entries: number;
        };
        /** DagTag */
        DagTag: {
            dag_display_name: string;
            dag_id: string;
            name: string;
        };
        /** DagTagCollection */
        DagTagCollection: {
            tags: string[];
            total_entries: number;
        };
        /** DAGUpdate */
        DAGUpdate: {
            is_paused: boolean;
        };
        /** DagVersion */
        DagVersion: {
            bundle_name: string | null;
            bundle_url: string | null;
            bundle_version: string | null;
            /** Format: date-time */
            created_at: string;
            dag_display_name: string;
            dag_id: string;
            /** Format: uuid */
            id: string;
            /** @description 0: what was imported from an Airflow, without code */
            version_number: number;
        };
        /** DagVersionCollection */
        DagVersionCollection: {
            dag_versions: components["schemas"]["DagVersion"][];
            total_entries: number;
        };
        /** DagWarning */
        DagWarning: {
            dag_display_name: string;
            dag_id: string;
            /** @description What svc calls it: `airflow difference`, `value changed`, or the same as `warning_type` */
            kind: string;
            message: string;
            /** Format: date-time */
            timestamp: string;
            warning_type: string;
        };
        /** DagWarningCollection */
        DagWarningCollection: {
            dag_warnings: components["schemas"]["DagWarning"][];
            total_entries: number;
        };
        /** Deadline */
        Deadline: {
            alert_description: string | null;
            alert_id: string | null;
            alert_name: string | null;
            /** Format: date-time */
            created_at: string;
            dag_id: string;
            dag_run_id: string;
            /** Format: date-time */
            deadline_time: string;
            /** Format: uuid */
            id: string;
            missed: boolean;
        };
        /** DeadlineAlert */
        DeadlineAlert: {
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            interval: number | null;
            name: string | null;
            /** @description Airflow’s class of what the time counts from */
            reference_type: string;
        };
        /** DeadlineAlertCollection */
        DeadlineAlertCollection: {
            deadline_alerts: components["schemas"]["DeadlineAlert"][];
            total_entries: number;
        };
        /** DeadlineCollection */
        DeadlineCollection: {
            deadlines: components["schemas"]["Deadline"][];
            total_entries: number;
        };
        /** DeployedDag */
        DeployedDag: {
            file: string;
            version: number;
        };
        /** Deployment */
        Deployment: {
            author: string;
            bundle_name: string;
            /** @description How many DAGs it added, changed or removed */
            changed: number;
            /** @description By DAG id */
            changes: {
                [key: string]: components["schemas"]["DagChange"];
            };
            committed_at: string | null;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** @description By DAG id: the version of the DAG, and its file in the bundle */
            dags: {
                [key: string]: components["schemas"]["DeployedDag"];
            };
            /** @description Its number within the bundle */
            deployment: number;
            is_current: boolean;
            /**
             * @description `dag_rollback`: one DAG went back to an older version
             * @enum {unknown}
             */
            kind: "sync" | "rollback" | "dag_rollback";
            message: string;
            /** @description With `on_error: partial`: what was left out */
            problems: components["schemas"]["BundleProblem"][];
            repeats: number | null;
            url: string | null;
            /** @description The commit; of a folder, the hash of its files */
            version: string;
        };
        /** DeploymentCollection */
        DeploymentCollection: {
            deployments: components["schemas"]["ListedDeployment"][];
            total_entries: number;
        };
        /** DeviceLogin */
        DeviceLogin: {
            /** @description Seconds */
            expires_in: number;
            /** @description For the token */
            handle: string;
            /** @description Seconds to wait between two requests for the token */
            interval: number;
            /** @description What the person types */
            user_code: string;
            /** @description Where the person types it */
            verification_uri: string;
            verification_uri_complete: string | null;
        };
        /** DevicePending */
        DevicePending: {
            /** @description Wait five seconds longer from now on */
            slow_down: boolean;
            /** @enum {string} */
            status: "pending";
        };
        /** DeviceTokenRequest */
        DeviceTokenRequest: {
            handle: string;
        };
        /** DrainWorkerBody */
        DrainWorkerBody: {
            /** @description For those who look at it later */
            why?: string;
        };
        /**
         * DurationStats
         * @description Of the newest runs that have ended, in seconds
         */
        DurationStats: {
            mean: number;
            mode: number | null;
            p50: number;
            p90: number;
            p95: number;
            p99: number;
        };
        /** Error */
        Error: {
            /** @description What is wrong with this request and what to do about it */
            detail: string;
            /** @description The path of the request */
            instance: string;
            status: number;
            title: string;
            /** @description A stable name of the kind of error: `urn:svc:error:<code>` */
            type: string;
        };
        /** EventLog */
        EventLog: {
            dag_display_name: string | null;
            dag_id: string | null;
            event: string;
            event_log_id: number;
            extra: string | null;
            logical_date: string | null;
            map_index: number | null;
            owner: string | null;
            run_id: string | null;
            task_display_name: string | null;
            task_id: string | null;
            try_number: number | null;
            /** Format: date-time */
            when: string;
        };
        /** EventLogCollection */
        EventLogCollection: {
            event_logs: components["schemas"]["EventLog"][];
            total_entries: number;
        };
        /** ExecutorInfo */
        ExecutorInfo: {
            agent_control_plane_addr: string;
            execution_modes: string[];
            pod_dispatch_enabled: boolean;
            task_namespace: string;
        };
        /** ExternalLogUrlResponse */
        ExternalLogUrlResponse: {
            url: string;
        };
        /** ExtraLinkCollection */
        ExtraLinkCollection: {
            extra_links: {
                [key: string]: string | null;
            };
            total_entries: number;
        };
        /** FailureDiagnosis */
        FailureDiagnosis: {
            advice: {
                /** @enum {unknown} */
                code: "fix_code" | "fix_import" | "add_dependency" | "check_connection" | "create_connection" | "create_variable" | "check_permission" | "raise_timeout" | "raise_run_timeout" | "raise_memory" | "check_source" | "answer" | "pass_reference" | "return_list" | "fix_models" | "check_exit" | "check_killer" | "check_environment" | "clear" | "check_workers" | "check_image" | "check_pod" | "renew_credential" | "find_first" | "ask_user";
                text: string;
            }[];
            blocks: {
                task_ids: string[];
                total: number;
            } | null;
            cause: {
                /**
                 * @description One of the codes in docs/failure-causes.md
                 * @enum {unknown}
                 */
                code: "exception" | "failed_without_retry" | "sensor_timeout" | "unanswered" | "xcom_too_large" | "unmappable_value" | "dbt_failed" | "execution_timeout" | "process_killed" | "process_exited" | "out_of_memory" | "dag_file_failed" | "environment_failed" | "agent_lost" | "never_started" | "dispatch_failed" | "image_unavailable" | "container_not_started" | "pod_refused" | "pod_not_started" | "pod_evicted" | "pod_preempted" | "pod_deleted" | "pod_deadline" | "node_lost" | "credential_expired" | "run_timed_out" | "run_ended" | "marked_failed" | "cleared" | "expansion_failed" | "unclassified" | "fail_fast";
                detail: string | null;
                exception: {
                    code: string | null;
                    file: string | null;
                    function: string | null;
                    line: number | null;
                    message: string;
                    root_cause: {
                        code: string | null;
                        file: string | null;
                        function: string | null;
                        line: number | null;
                        message: string;
                        type: string;
                    } | null;
                    type: string;
                } | null;
                exit_code: number | null;
                /** @description Equal for failures with the same cause */
                fingerprint: string;
                is_infrastructure: boolean;
                is_out_of_memory: boolean;
                is_timeout: boolean;
                meaning: string;
                /** @enum {unknown} */
                seen_by: "task" | "agent" | "control_plane";
                signal: string | null;
            } | null;
            duration: number | null;
            end_date: string | null;
            failed_tries: {
                cause: {
                    /**
                     * @description One of the codes in docs/failure-causes.md
                     * @enum {unknown}
                     */
                    code: "exception" | "failed_without_retry" | "sensor_timeout" | "unanswered" | "xcom_too_large" | "unmappable_value" | "dbt_failed" | "execution_timeout" | "process_killed" | "process_exited" | "out_of_memory" | "dag_file_failed" | "environment_failed" | "agent_lost" | "never_started" | "dispatch_failed" | "image_unavailable" | "container_not_started" | "pod_refused" | "pod_not_started" | "pod_evicted" | "pod_preempted" | "pod_deleted" | "pod_deadline" | "node_lost" | "credential_expired" | "run_timed_out" | "run_ended" | "marked_failed" | "cleared" | "expansion_failed" | "unclassified" | "fail_fast";
                    detail: string | null;
                    meaning: string;
                } | null;
                end_date: string | null;
                try_number: number;
            }[];
            /** @description Retries of its task group, or of its run, until now */
            group_retries: number;
            history: {
                failed_before: number;
                first_failure: {
                    /** Format: date-time */
                    run_after: string;
                    run_id: string;
                    version: {
                        author: string | null;
                        bundle_name: string;
                        bundle_url: string | null;
                        bundle_version: string | null;
                        /** Format: date-time */
                        created_at: string;
                        version_number: number;
                    } | null;
                };
                last_success: {
                    /** Format: date-time */
                    run_after: string;
                    run_id: string;
                    version_number: number;
                } | null;
                runs_compared: number;
                /** @description Earlier runs with the same fingerprint */
                same_cause_in: string[];
                since_version: number | null;
            } | null;
            hostname: string | null;
            /** @description Tries lost to infrastructure, which used up no retry */
            infrastructure_retries: number;
            instances: {
                failed: number;
                total: number;
            } | null;
            log: {
                earlier_errors: string[];
                lines: string[];
                lines_left_out: number;
                note: string | null;
            };
            /** @description -1: not mapped */
            map_index: number;
            max_tries: number;
            next_try_at: string | null;
            operator: string | null;
            rendered_fields: string | null;
            start_date: string | null;
            state: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input") | null;
            task_id: string;
            try_number: number;
            upstream: {
                last_lines: string[];
                state: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input") | null;
                task_id: string;
            }[];
            version_number: number;
        };
        /** Fleet */
        Fleet: {
            /** @description The time span of the delays */
            delay_minutes: number;
            queues: {
                deferred: number;
                queue: string;
                /** @description Handed to a worker, and not started */
                queued: number;
                running: number;
                /** @description Waiting for a slot or a worker */
                scheduled: number;
                waiting_since: string | null;
            }[];
            run_delay: {
                /** @description How many started */
                count: number;
                p50: number | null;
                p95: number | null;
            };
            /** @description The tasks that run longest, at most 20 */
            running: {
                dag_id: string;
                dag_run_id: string;
                /** @description The host, or the pod */
                hostname: string;
                map_index: number;
                queue: string;
                start_date: string | null;
                task_id: string;
            }[];
            task_delay: {
                /** @description How many started */
                count: number;
                p50: number | null;
                p95: number | null;
            };
        };
        /** HealthInfo */
        HealthInfo: {
            dag_processor: components["schemas"]["ComponentHealth"];
            log_store?: components["schemas"]["LogStoreHealth"];
            metadatabase: components["schemas"]["ComponentHealth"];
            redis?: components["schemas"]["RedisHealth"];
            scheduler: components["schemas"]["ComponentHealth"];
            triggerer: components["schemas"]["ComponentHealth"];
            /** @description By kind and state; those that have left for an hour */
            workers: components["schemas"]["WorkersHealth"][];
        };
        /** HitlAnswer */
        HitlAnswer: {
            chosen_options: string[];
            params_input?: {
                [key: string]: unknown;
            };
        };
        /** HitlDetail */
        HitlDetail: {
            assigned_users: components["schemas"]["HitlUser"][];
            body: string | null;
            chosen_options: string[] | null;
            /** Format: date-time */
            created_at: string;
            defaults: string[] | null;
            multiple: boolean;
            options: string[];
            params: {
                [key: string]: unknown;
            };
            params_input: {
                [key: string]: unknown;
            };
            responded_at: string | null;
            responded_by_user: components["schemas"]["HitlUser"] | null;
            response_received: boolean;
            subject: string;
            task_instance: components["schemas"]["TaskInstance"];
        };
        /** HitlDetailCollection */
        HitlDetailCollection: {
            hitl_details: components["schemas"]["HitlDetail"][];
            total_entries: number;
        };
        /** HitlDetailHistory */
        HitlDetailHistory: {
            assigned_users: components["schemas"]["HitlUser"][];
            body: string | null;
            chosen_options: string[] | null;
            /** Format: date-time */
            created_at: string;
            defaults: string[] | null;
            multiple: boolean;
            options: string[];
            params: {
                [key: string]: unknown;
            };
            params_input: {
                [key: string]: unknown;
            };
            responded_at: string | null;
            responded_by_user: components["schemas"]["HitlUser"] | null;
            response_received: boolean;
            subject: string;
            task_instance: components["schemas"]["TaskInstanceHistory"];
        };
        /** HitlResponse */
        HitlResponse: {
            chosen_options: string[];
            params_input: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            responded_at: string;
            responded_by: components["schemas"]["HitlUser"];
        };
        /** HitlUser */
        HitlUser: {
            id: string;
            name: string;
        };
        /** ImportError */
        ImportError: {
            bundle_name: string | null;
            filename: string;
            import_error_id: number;
            stack_trace: string;
            /** Format: date-time */
            timestamp: string;
        };
        /** ImportErrorCollection */
        ImportErrorCollection: {
            import_errors: components["schemas"]["ImportError"][];
            total_entries: number;
        };
        /** ImportErrorReport */
        ImportErrorReport: {
            bundle_name: string;
            filename: string;
            stack_trace: string;
        };
        /** IssuedServiceAccount */
        IssuedServiceAccount: {
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            /** @description To the minute */
            last_used_at: string | null;
            name: string;
            role: string;
            /** @description Shown this once; only its hash is stored */
            token: string;
            /** @description How the token begins, to recognise it by */
            token_start: string;
        };
        /** IssuedWorkerToken */
        IssuedWorkerToken: {
            comment: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            last_used_at: string | null;
            queues: string[];
            /** @description Shown this once; only its hash is stored */
            token: string;
            /** @description How the token begins, to recognise it by */
            token_start: string;
        };
        /** Job */
        Job: {
            dag_display_name: string | null;
            dag_id: string | null;
            end_date: string | null;
            executor_class: string | null;
            hostname: string | null;
            id: number;
            job_type: string | null;
            latest_heartbeat: string | null;
            start_date: string | null;
            state: string | null;
            unixname: string | null;
        };
        /** JobCollection */
        JobCollection: {
            jobs: components["schemas"]["Job"][];
            total_entries: number;
        };
        /**
         * LatestWorkspaceTest
         * @description Null if you have started none since the control plane was started
         */
        LatestWorkspaceTest: {
            test: components["schemas"]["WorkspaceTest"] | null;
        };
        /** ListedDeployment */
        ListedDeployment: {
            author: string;
            bundle_name: string;
            /** @description How many DAGs it added, changed or removed */
            changed: number;
            committed_at: string | null;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** @description Its number within the bundle */
            deployment: number;
            is_current: boolean;
            /**
             * @description `dag_rollback`: one DAG went back to an older version
             * @enum {unknown}
             */
            kind: "sync" | "rollback" | "dag_rollback";
            message: string;
            repeats: number | null;
            url: string | null;
            /** @description The commit; of a folder, the hash of its files */
            version: string;
        };
        /**
         * LogStoreHealth
         * @description Only where task logs are kept in an object store
         */
        LogStoreHealth: {
            away_since: string | null;
            /** @description `healthy`, or `degraded` while it is away and lines wait in the database */
            status: string;
        };
        /** MuteAlertRuleBody */
        MuteAlertRuleBody: {
            until: string | null;
        };
        /** NewestRun */
        NewestRun: {
            dag_run_id: string;
            end_date: string | null;
            logical_date: string | null;
            /** Format: date-time */
            run_after: string;
            start_date: string | null;
            state: string;
        };
        /**
         * NewTask
         * @description A task that the run does not have yet
         */
        NewTask: {
            task_display_name: string;
            task_id: string;
        };
        /** NextRunAssets */
        NextRunAssets: {
            asset_expression: {
                [key: string]: unknown;
            } | null;
            events: {
                asset_inactive: boolean;
                id: number;
                is_rollup: boolean;
                last_update: string | null;
                lastUpdate: string | null;
                mapper_error: boolean;
                name: string | null;
                received_count: number;
                received_keys: string[];
                required_count: number;
                required_keys: string[];
                uri: string;
            }[];
            pending_partition_count: number | null;
        };
        /** PatchTaskInstanceBody */
        PatchTaskInstanceBody: {
            /**
             * @description Also every task after it
             * @default false
             */
            include_downstream?: boolean;
            /**
             * @description Also in every run of a later logical date
             * @default false
             */
            include_future?: boolean;
            /**
             * @description Also in every run of an earlier logical date
             * @default false
             */
            include_past?: boolean;
            /**
             * @description Also every task before it
             * @default false
             */
            include_upstream?: boolean;
            new_state?: ("success" | "failed" | "skipped") | null;
            note?: string | null;
        };
        /** Plugin */
        Plugin: {
            appbuilder_menu_items: {
                [key: string]: unknown;
            }[];
            appbuilder_views: {
                [key: string]: unknown;
            }[];
            external_views: {
                [key: string]: unknown;
            }[];
            fastapi_apps: {
                [key: string]: unknown;
            }[];
            fastapi_root_middlewares: {
                [key: string]: unknown;
            }[];
            flask_blueprints: string[];
            global_operator_extra_links: string[];
            listeners: string[];
            macros: string[];
            name: string;
            operator_extra_links: string[];
            react_apps: {
                [key: string]: unknown;
            }[];
            source: string;
            timetables: string[];
        };
        /** PluginCollection */
        PluginCollection: {
            plugins: components["schemas"]["Plugin"][];
            total_entries: number;
        };
        /** PluginImportError */
        PluginImportError: {
            error: string;
            source: string;
        };
        /** PluginImportErrorCollection */
        PluginImportErrorCollection: {
            import_errors: components["schemas"]["PluginImportError"][];
            total_entries: number;
        };
        /** Pool */
        Pool: {
            /** @description Slots of instances that are deferred */
            deferred_slots: number;
            description: string | null;
            /** @description Whether deferred instances keep their slots */
            include_deferred: boolean;
            name: string;
            /** @description Slots of instances that run or are queued, and of deferred ones when they count */
            occupied_slots: number;
            /** @description What is left; -1 without a limit. Below 0 when slots were taken away */
            open_slots: number;
            /** @description Slots of instances that were handed to a worker and have not started */
            queued_slots: number;
            /** @description Slots of instances that run */
            running_slots: number;
            /** @description Slots of instances that wait for a slot or a worker */
            scheduled_slots: number;
            /** @description -1: no limit */
            slots: number;
            team_name: string | null;
        };
        /** PoolBody */
        PoolBody: {
            description?: string | null;
            /** @description Default: false */
            include_deferred?: boolean;
            name: string;
            /** @description -1: no limit */
            slots: number;
            /** @description Leave it out: there are no teams */
            team_name?: string | null;
        };
        /** PoolCollection */
        PoolCollection: {
            pools: components["schemas"]["Pool"][];
            total_entries: number;
        };
        /**
         * PoolUpdate
         * @description A field that is left out keeps its stored value.
         */
        PoolUpdate: {
            description?: string | null;
            include_deferred?: boolean | null;
            pool?: string | null;
            slots?: number | null;
            /** @description Leave it out: there are no teams */
            team_name?: string | null;
        };
        /** Provider */
        Provider: {
            description: string;
            documentation_url: string | null;
            package_name: string;
            /** @description What is installed; until an environment has been made, what DAG projects ask for: a version, a range, or `any` */
            version: string;
        };
        /** ProviderCollection */
        ProviderCollection: {
            providers: components["schemas"]["Provider"][];
            total_entries: number;
        };
        /** QueuedEvent */
        QueuedEvent: {
            asset_id: number;
            /**
             * Format: date-time
             * @description When the first of them happened
             */
            created_at: string;
            dag_display_name: string;
            dag_id: string;
        };
        /** QueuedEventCollection */
        QueuedEventCollection: {
            queued_events: components["schemas"]["QueuedEvent"][];
            total_entries: number;
        };
        /** RedisHealth */
        RedisHealth: {
            problem: string | null;
            /** @description `healthy` or `unhealthy`, as the process that answers sees it */
            status: string;
        };
        /** ReplacedXCom */
        ReplacedXCom: {
            key: string;
            /** @description -1: not mapped */
            map_index: number;
            /** Format: date-time */
            replaced_at: string;
            task_id: string;
            /** @description JSON text, as the task encoded it */
            value: string;
            /** Format: date-time */
            written_at: string;
        };
        /** ReplacedXComCollection */
        ReplacedXComCollection: {
            replaced_xcom_entries: components["schemas"]["ReplacedXCom"][];
            total_entries: number;
        };
        /** ReplayValue */
        ReplayValue: {
            text: string | null;
        };
        /** ReplayValueBody */
        ReplayValueBody: {
            kind: "variable" | "connection";
            name: string;
        };
        /** RollbackBody */
        RollbackBody: {
            /** @description The deployment to go back to; default: the one before the current one */
            to?: number;
        };
        /** RotateServiceAccountRequest */
        RotateServiceAccountRequest: {
            /**
             * @description Seconds until the token expires: 90 days unless given, a year at most
             * @default 7776000
             */
            expires_in?: number;
        };
        /** RunDiagnosis */
        RunDiagnosis: {
            counts: {
                active: number;
                failed: number;
                skipped: number;
                total: number;
                up_for_retry: number;
                upstream_failed: number;
                waiting: number;
            };
            dag_id: string;
            dag_run_id: string;
            dag_versions: {
                bundle_name: string;
                bundle_url: string | null;
                bundle_version: string | null;
                /** Format: date-time */
                created_at: string;
                version_number: number;
            }[];
            duration: number | null;
            end_date: string | null;
            failures: components["schemas"]["FailureDiagnosis"][];
            failures_not_shown: number;
            history: {
                failed_before: number;
                last_success: {
                    /** Format: date-time */
                    run_after: string;
                    run_id: string;
                } | null;
                newest_version: number | null;
                previous_run: {
                    /** Format: date-time */
                    run_after: string;
                    run_id: string;
                    /** @enum {unknown} */
                    state: "queued" | "running" | "success" | "failed";
                    version_number: number;
                } | null;
                runs_compared: number;
                version_changed: boolean;
            };
            logical_date: string | null;
            models: {
                kind: string | null;
                name: string;
                path: string | null;
                /** @enum {unknown} */
                seen_in: "log" | "definition";
                task_ids: string[];
            }[];
            pools: {
                held_by: {
                    dag_id: string;
                    /** @description -1: not mapped */
                    map_index: number;
                    run_id: string;
                    since: string | null;
                    task_id: string;
                }[];
                name: string;
                occupied: number | null;
                slots: number | null;
                waiting: {
                    /** @description -1: not mapped */
                    map_index: number;
                    task_id: string;
                }[];
            }[];
            retried: {
                failed_tries: {
                    cause: {
                        /**
                         * @description One of the codes in docs/failure-causes.md
                         * @enum {unknown}
                         */
                        code: "exception" | "failed_without_retry" | "sensor_timeout" | "unanswered" | "xcom_too_large" | "unmappable_value" | "dbt_failed" | "execution_timeout" | "process_killed" | "process_exited" | "out_of_memory" | "dag_file_failed" | "environment_failed" | "agent_lost" | "never_started" | "dispatch_failed" | "image_unavailable" | "container_not_started" | "pod_refused" | "pod_not_started" | "pod_evicted" | "pod_preempted" | "pod_deleted" | "pod_deadline" | "node_lost" | "credential_expired" | "run_timed_out" | "run_ended" | "marked_failed" | "cleared" | "expansion_failed" | "unclassified" | "fail_fast";
                        detail: string | null;
                        meaning: string;
                    } | null;
                    end_date: string | null;
                    try_number: number;
                }[];
                /** @description -1: not mapped */
                map_index: number;
                task_id: string;
                try_number: number;
            }[];
            /** Format: date-time */
            run_after: string;
            /** @enum {unknown} */
            run_type: "backfill" | "scheduled" | "manual" | "asset_triggered" | "asset_materialization";
            run_wait: {
                /** @enum {unknown} */
                code: "paused" | "max_active_runs" | "run_after" | "backfill" | "starting";
                detail: string | null;
                /** @description What ends the wait */
                ends_with: string;
                meaning: string;
                until: string | null;
            } | null;
            skipped: {
                /** @description -1: not mapped */
                map_index: number;
                task_id: string;
                why: string;
            }[];
            start_date: string | null;
            /** @enum {unknown} */
            state: "queued" | "running" | "success" | "failed";
            waiting: {
                last_lines: string[];
                /** @description -1: not mapped */
                map_index: number;
                state: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input") | null;
                task_id: string;
                trigger: {
                    class_path: string;
                    /** Format: date-time */
                    since: string;
                    triggerer: string | null;
                } | null;
                wait: {
                    /** @enum {unknown} */
                    code: "upstream" | "past" | "paused" | "pool_full" | "pool_missing" | "max_active_tasks" | "max_active_tis_per_dag" | "max_active_tis_per_dagrun" | "max_active_runs" | "retry_delay" | "group_retry" | "reschedule" | "trigger" | "answer" | "run_queued" | "no_worker" | "dispatched" | "pod_unschedulable" | "pod_refused" | "pod_waits" | "pod_restarts" | "warm_pool_full" | "warm_pods_full" | "image_pull" | "volume_pending" | "cluster_unreachable";
                    detail: string | null;
                    /** @description What ends the wait */
                    ends_with: string;
                    meaning: string;
                    until: string | null;
                } | null;
            }[];
        };
        /** ServiceAccount */
        ServiceAccount: {
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            /** @description To the minute */
            last_used_at: string | null;
            name: string;
            role: string;
            /** @description How the token begins, to recognise it by */
            token_start: string;
        };
        /** ServiceAccountCollection */
        ServiceAccountCollection: {
            service_accounts: components["schemas"]["ServiceAccount"][];
            total_entries: number;
        };
        /** StructuredLogMessage */
        StructuredLogMessage: {
            event: string;
            timestamp?: string | null;
        } & {
            [key: string]: unknown;
        };
        /** Task */
        Task: {
            class_ref: {
                class_name: string;
                module_path: string;
            } | null;
            depends_on_past: boolean;
            doc_md: string | null;
            downstream_task_ids: string[];
            end_date: string | null;
            execution_timeout: components["schemas"]["TimeDelta"] | null;
            extra_links: string[];
            is_mapped: boolean;
            operator_name: string | null;
            owner: string | null;
            params: {
                [key: string]: {
                    description: string | null;
                    schema: {
                        [key: string]: unknown;
                    };
                    source: string | null;
                    value: unknown;
                };
            } | null;
            pool: string | null;
            pool_slots: number;
            priority_weight: number;
            queue: string | null;
            retries: number;
            retry_delay: components["schemas"]["TimeDelta"] | null;
            retry_exponential_backoff: number;
            start_date: string | null;
            task_display_name: string;
            task_id: string;
            template_fields: string[];
            trigger_rule: string;
            ui_color: string | null;
            ui_fgcolor: string | null;
            wait_for_downstream: boolean;
            weight_rule: string | null;
        };
        /** TaskCollection */
        TaskCollection: {
            tasks: components["schemas"]["Task"][];
            total_entries: number;
        };
        /** TaskCostAdvice */
        TaskCostAdvice: {
            advice: {
                /** @enum {unknown} */
                code: "memory_over_requested" | "memory_under_requested" | "slower_version";
                text: string;
            }[];
            /** @description Processors that were busy on average, in the 95th of 100 instances */
            cpus_p95: number;
            memory_max_bytes: number;
            memory_p95_bytes: number;
            requested: {
                cpu: string | null;
                memory: string | null;
            };
            seconds_median: number;
            /** @description Values for `resources` in svc.yaml */
            suitable: {
                cpu: string;
                memory: string;
            };
            task_id: string;
            /** @description Successful instances in the last 30 runs */
            tries: number;
        };
        /** TaskDependency */
        TaskDependency: {
            /** @description The kind of thing it waits for */
            name: string;
            /** @description What exactly */
            reason: string;
        };
        /** TaskDependencyCollection */
        TaskDependencyCollection: {
            dependencies: components["schemas"]["TaskDependency"][];
        };
        /** TaskInstance */
        TaskInstance: {
            dag_display_name: string;
            dag_id: string;
            dag_run_id: string;
            dag_version: components["schemas"]["DagVersion"] | null;
            duration: number | null;
            end_date: string | null;
            executor: string | null;
            executor_config: string;
            failure_detail: string | null;
            failure_reason: string | null;
            /** @description Retries of its task group, or of its run, that it has been through since the last clear */
            group_retries: number;
            hostname: string | null;
            /** Format: uuid */
            id: string;
            /** @description Tries that were lost to infrastructure since the last clear: `max_tries` has grown by each of them */
            infrastructure_retries: number;
            logical_date: string | null;
            /** @description -1: not mapped, or not expanded yet */
            map_index: number;
            max_tries: number;
            note: string | null;
            operator: string | null;
            operator_name: string | null;
            pid: number | null;
            pool: string;
            pool_slots: number;
            priority_weight: number | null;
            queue: string | null;
            queued_when: string | null;
            rendered_fields: {
                [key: string]: unknown;
            };
            rendered_map_index: string | null;
            /** Format: date-time */
            run_after: string;
            scheduled_when: string | null;
            start_date: string | null;
            state: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input") | null;
            task_display_name: string;
            task_id: string;
            trigger: components["schemas"]["Trigger"] | null;
            triggerer_job: components["schemas"]["Job"] | null;
            try_number: number;
            unixname: string | null;
            wait_reason: string | null;
        };
        /** TaskInstanceCollection */
        TaskInstanceCollection: {
            next_cursor: string | null;
            previous_cursor: string | null;
            task_instances: components["schemas"]["TaskInstance"][];
            total_entries: number | null;
            /** @description A total is never capped: always null */
            total_entries_limit: null;
        };
        /** TaskInstanceDiagnosis */
        TaskInstanceDiagnosis: {
            dag_id: string;
            dag_run_id: string;
            failure: components["schemas"]["FailureDiagnosis"] | null;
            /** @description -1: not mapped */
            map_index: number;
            pools: {
                held_by: {
                    dag_id: string;
                    /** @description -1: not mapped */
                    map_index: number;
                    run_id: string;
                    since: string | null;
                    task_id: string;
                }[];
                name: string;
                occupied: number | null;
                slots: number | null;
                waiting: {
                    /** @description -1: not mapped */
                    map_index: number;
                    task_id: string;
                }[];
            }[];
            state: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input") | null;
            task_id: string;
            try_number: number;
            waiting: {
                last_lines: string[];
                /** @description -1: not mapped */
                map_index: number;
                state: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input") | null;
                task_id: string;
                trigger: {
                    class_path: string;
                    /** Format: date-time */
                    since: string;
                    triggerer: string | null;
                } | null;
                wait: {
                    /** @enum {unknown} */
                    code: "upstream" | "past" | "paused" | "pool_full" | "pool_missing" | "max_active_tasks" | "max_active_tis_per_dag" | "max_active_tis_per_dagrun" | "max_active_runs" | "retry_delay" | "group_retry" | "reschedule" | "trigger" | "answer" | "run_queued" | "no_worker" | "dispatched" | "pod_unschedulable" | "pod_refused" | "pod_waits" | "pod_restarts" | "warm_pool_full" | "warm_pods_full" | "image_pull" | "volume_pending" | "cluster_unreachable";
                    detail: string | null;
                    /** @description What ends the wait */
                    ends_with: string;
                    meaning: string;
                    until: string | null;
                } | null;
            } | null;
        };
        /** TaskInstanceHistory */
        TaskInstanceHistory: {
            dag_display_name: string;
            dag_id: string;
            dag_run_id: string;
            dag_version: components["schemas"]["DagVersion"] | null;
            duration: number | null;
            end_date: string | null;
            executor: string | null;
            executor_config: string;
            failure_detail: string | null;
            failure_reason: string | null;
            hostname: string | null;
            /** @description -1: not mapped, or not expanded yet */
            map_index: number;
            max_tries: number;
            operator: string | null;
            operator_name: string | null;
            pid: number | null;
            pool: string;
            pool_slots: number;
            priority_weight: number | null;
            queue: string | null;
            queued_when: string | null;
            scheduled_when: string | null;
            start_date: string | null;
            state: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input") | null;
            task_display_name: string;
            task_id: string;
            try_number: number;
            unixname: string | null;
        };
        /** TaskInstanceHistoryCollection */
        TaskInstanceHistoryCollection: {
            task_instances: components["schemas"]["TaskInstanceHistory"][];
            total_entries: number;
        };
        /** TaskInstancesBatchBody */
        TaskInstancesBatchBody: {
            dag_ids?: string[] | null;
            dag_run_ids?: string[] | null;
            duration_gt?: number | null;
            duration_gte?: number | null;
            duration_lt?: number | null;
            duration_lte?: number | null;
            end_date_gt?: string | null;
            end_date_gte?: string | null;
            end_date_lt?: string | null;
            end_date_lte?: string | null;
            executor?: string[] | null;
            logical_date_gt?: string | null;
            logical_date_gte?: string | null;
            logical_date_lt?: string | null;
            logical_date_lte?: string | null;
            order_by?: ("id" | "-id" | "dag_id" | "-dag_id" | "task_id" | "-task_id" | "map_index" | "-map_index" | "run_after" | "-run_after" | "logical_date" | "-logical_date" | "data_interval_start" | "-data_interval_start" | "data_interval_end" | "-data_interval_end" | "run_id" | "-run_id" | "state" | "-state" | "duration" | "-duration" | "start_date" | "-start_date" | "end_date" | "-end_date" | "updated_at" | "-updated_at" | "queued_when" | "-queued_when" | "scheduled_when" | "-scheduled_when" | "try_number" | "-try_number" | "max_tries" | "-max_tries" | "priority_weight" | "-priority_weight" | "pool_slots" | "-pool_slots" | "pool" | "-pool" | "queue" | "-queue" | "operator" | "-operator" | "hostname" | "-hostname" | "rendered_map_index" | "-rendered_map_index" | "dag_run_id" | "-dag_run_id") | null;
            /** @default 100 */
            page_limit?: number;
            /** @default 0 */
            page_offset?: number;
            pool?: string[] | null;
            queue?: string[] | null;
            run_after_gt?: string | null;
            run_after_gte?: string | null;
            run_after_lt?: string | null;
            run_after_lte?: string | null;
            start_date_gt?: string | null;
            start_date_gte?: string | null;
            start_date_lt?: string | null;
            start_date_lte?: string | null;
            state?: (("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input" | "none" | "no_status" | "null") | null)[] | null;
            task_ids?: string[] | null;
        };
        /** TaskInstancesLogResponse */
        TaskInstancesLogResponse: {
            content: components["schemas"]["StructuredLogMessage"][];
            continuation_token: string | null;
            /** @description Of a search: whether these are all matches */
            search_complete?: boolean;
        };
        /** TaskInstanceUsage */
        TaskInstanceUsage: {
            currency: string | null;
            total_entries: number;
            tries: components["schemas"]["TryUsage"][];
        };
        /** TaskStateStoreBody */
        TaskStateStoreBody: {
            /** @description `default` (without it, too): after `state_store.default_retention`. Null: never */
            expires_at?: string | "default" | null;
            /** @description Any JSON value without the keys Airflow encodes other types with */
            value: unknown;
        };
        /** TaskStateStoreCollectionResponse */
        TaskStateStoreCollectionResponse: {
            task_state_store: components["schemas"]["TaskStateStoreResponse"][];
            total_entries: number;
        };
        /** TaskStateStorePatchBody */
        TaskStateStorePatchBody: {
            /** @description Any JSON value without the keys Airflow encodes other types with */
            value: unknown;
        };
        /** TaskStateStoreResponse */
        TaskStateStoreResponse: {
            expires_at: string | null;
            key: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Any JSON value */
            value: unknown;
        };
        /** Tenant */
        Tenant: {
            /** Format: date-time */
            created_at: string;
            dags: number;
            disabled_at: string | null;
            /** Format: uuid */
            id: string;
            /** @description False while the tenant is disabled */
            is_active: boolean;
            name: string;
            users: number;
        };
        /** TenantCollection */
        TenantCollection: {
            tenants: components["schemas"]["Tenant"][];
            total_entries: number;
        };
        /** TimeDelta */
        TimeDelta: {
            /** @enum {string} */
            __type: "TimeDelta";
            days: number;
            microseconds: number;
            seconds: number;
        };
        /** TokenRequest */
        TokenRequest: {
            password: string;
            /** @description Default: `default` */
            tenant?: string;
            /** @description The e-mail address of the user */
            username: string;
        };
        /** TokenResponse */
        TokenResponse: {
            access_token: string;
            /** @description Seconds */
            expires_in: number;
            /** @description Always `Bearer` */
            token_type: string;
        };
        /** Trigger */
        Trigger: {
            classpath: string;
            /** Format: date-time */
            created_date: string;
            id: number;
            /** @description Not shown: arguments of triggers may hold secrets */
            kwargs: string;
            queue: string | null;
            triggerer_id: number | null;
        };
        /** TryUsage */
        TryUsage: {
            cost: number | null;
            cpu_seconds: number | null;
            gib_seconds: number | null;
            memory_bytes: number | null;
            queue: string;
            read_bytes: number | null;
            seconds: number | null;
            state: string | null;
            try_number: number;
            waits: components["schemas"]["CostWait"][];
            written_bytes: number | null;
        };
        /** UpdateTenantRequest */
        UpdateTenantRequest: {
            is_active: boolean;
        };
        /** UpdateUserRequest */
        UpdateUserRequest: {
            is_active?: boolean;
            password?: string;
            /** @description Names of existing roles */
            roles?: ("viewer" | "operator" | "editor" | "admin")[];
        };
        /** User */
        User: {
            /** Format: date-time */
            created_at: string;
            email: string;
            /** Format: uuid */
            id: string;
            is_active: boolean;
            roles: string[];
        };
        /** UserCollection */
        UserCollection: {
            total_entries: number;
            users: components["schemas"]["User"][];
        };
        /** ValueForCompile */
        ValueForCompile: {
            /** @description Belongs into `values_read` of the version */
            fingerprint: string;
            /** @description What must not appear in a log or a version */
            masks: string[];
            note: string | null;
            text: string | null;
        };
        /** ValueForCompileBody */
        ValueForCompileBody: {
            /** @description The source of the file writes the name out */
            is_declared: boolean;
            kind: "variable" | "connection";
            name: string;
        };
        /** Variable */
        Variable: {
            description: string | null;
            /** @description Whether the value is encrypted where it is stored */
            is_encrypted: boolean;
            key: string;
            team_name: string | null;
            /** @description `***` when the key looks sensitive; inside JSON, under each such name */
            value: string;
        };
        /**
         * VariableBody
         * @description A field that is left out keeps its stored value; an empty string clears it.
         */
        VariableBody: {
            description?: string | null;
            /** @description Ignored: it follows from the configuration */
            is_encrypted?: boolean;
            key: string;
            /** @description Leave it out: there are no teams */
            team_name?: string | null;
            /** @description A string; anything else is stored as JSON. Left out or null it stays as it is, as does a masked `***`; empty clears it */
            value?: unknown;
        };
        /** VariableCollection */
        VariableCollection: {
            total_entries: number;
            variables: components["schemas"]["Variable"][];
        };
        /**
         * VariableUpdate
         * @description A field that is left out keeps its stored value; an empty string clears it.
         */
        VariableUpdate: {
            description?: string | null;
            /** @description Ignored: it follows from the configuration */
            is_encrypted?: boolean;
            key?: string;
            /** @description Leave it out: there are no teams */
            team_name?: string | null;
            /** @description A string; anything else is stored as JSON. Left out or null it stays as it is, as does a masked `***`; empty clears it */
            value?: unknown;
        };
        /** VersionInfo */
        VersionInfo: {
            git_version: string | null;
            version: string;
        };
        /** Worker */
        Worker: {
            agent_version: string;
            attempts_served: number;
            dag_id: string | null;
            drain_requested_at: string | null;
            drain_requested_by: string | null;
            drain_why: string | null;
            ended_why: string | null;
            hostname: string;
            /** Format: uuid */
            id: string;
            /**
             * @description `local`: the process of the subprocess executor; `warm`: a pod of a warm pool; `remote`: joined with a token
             * @enum {unknown}
             */
            kind: "local" | "warm" | "remote";
            /** Format: date-time */
            last_seen_at: string;
            name: string;
            pid: number | null;
            /** @description Workers of one pool may run the same tasks */
            pool: string;
            /** @description Of a remote worker: whose tasks it takes */
            queues: string[];
            /** @description As of its last sign of life */
            running: number;
            /** @description How many tasks it runs at once */
            slots: number;
            /** Format: date-time */
            started_at: string;
            /**
             * @description `lost`: nothing was heard of it; `gone`: it has left. Both are shown for an hour
             * @enum {unknown}
             */
            state: "starting" | "idle" | "busy" | "draining" | "lost" | "gone";
            token_id: string | null;
            version_number: number | null;
        };
        /** WorkerCollection */
        WorkerCollection: {
            total_entries: number;
            workers: components["schemas"]["Worker"][];
        };
        /** WorkersHealth */
        WorkersHealth: {
            /** @description `local`, `warm` or `remote` */
            kind: string;
            running: number;
            slots: number;
            state: string;
            workers: number;
        };
        /** WorkerToken */
        WorkerToken: {
            comment: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            last_used_at: string | null;
            queues: string[];
            /** @description How the token begins, to recognise it by */
            token_start: string;
        };
        /** WorkerTokenCollection */
        WorkerTokenCollection: {
            total_entries: number;
            worker_tokens: components["schemas"]["WorkerToken"][];
        };
        /** Workspace */
        Workspace: {
            entries: components["schemas"]["WorkspaceEntry"][];
            /** @description False when there are more than are listed */
            is_complete: boolean;
            name: string;
            /** @description True in lite: tasks and tests can be run from the editor */
            runs_tests: boolean;
            units: components["schemas"]["WorkspaceUnit"][] | null;
        };
        /** WorkspaceCompile */
        WorkspaceCompile: {
            /** @description Relative to the workspace, folders separated by `/` */
            path: string;
        };
        /** WorkspaceEntry */
        WorkspaceEntry: {
            kind: "file" | "folder" | "link";
            path: string;
        };
        /** WorkspaceFile */
        WorkspaceFile: {
            content: string;
            etag: string;
            path: string;
        };
        /** WorkspaceFileTag */
        WorkspaceFileTag: {
            etag: string;
            path: string;
        };
        /** WorkspaceFileWrite */
        WorkspaceFileWrite: {
            /** @description At most 1 MiB in UTF-8 */
            content: string;
        };
        /** WorkspaceProblem */
        WorkspaceProblem: {
            column: number | null;
            /** @description What to do about it; may be empty */
            hint: string;
            line: number | null;
            message: string;
            path: string;
            severity: "error" | "warning";
        };
        /** WorkspacePytestOrder */
        WorkspacePytestOrder: {
            /** @enum {string} */
            kind: "pytest";
            /** @description A file of tests, or a DAG file, whose tests run */
            path: string;
            /** @description Only this test of the file, such as `TestLoad::test_empty` */
            test?: string;
        };
        /** WorkspaceRename */
        WorkspaceRename: {
            /** @description Relative to the workspace, folders separated by `/` */
            from: string;
            /** @description Relative to the workspace, folders separated by `/` */
            to: string;
        };
        /** WorkspaceRunOrder */
        WorkspaceRunOrder: {
            conf?: {
                [key: string]: unknown;
            };
            dag_id: string;
            /** @enum {string} */
            kind: "run";
            /** @description Relative to the workspace, folders separated by `/` */
            path: string;
            /** @description Only this task; without it the whole DAG */
            task_id?: string;
            /** @description Values of tasks that do not run, by `task` or `task:key` */
            xcoms?: {
                [key: string]: unknown;
            };
        };
        /** WorkspaceTest */
        WorkspaceTest: {
            dag_id: string | null;
            /** @enum {unknown} */
            kind: "run" | "pytest";
            /** @description What tasks and tests have printed, after the first `log_from` characters */
            log: string;
            /** @description Characters of the whole log */
            log_length: number;
            path: string;
            problem: string | null;
            results: components["schemas"]["WorkspaceTestResult"][];
            seconds: number;
            /** @enum {unknown} */
            state: "running" | "success" | "failed" | "skipped" | "stopped";
            task_id: string | null;
            test: string | null;
            test_id: string;
        };
        /** WorkspaceTestResult */
        WorkspaceTestResult: {
            error: string | null;
            line: number | null;
            /** @description The task instance, as in `load[1]`, or the test */
            name: string;
            path: string | null;
            seconds: number | null;
            state: string | null;
            tries: number | null;
            xcoms: components["schemas"]["WorkspaceTestXcom"][];
        };
        /**
         * WorkspaceTestXcom
         * @description A value that the task pushed, as JSON; a long one is cut
         */
        WorkspaceTestXcom: {
            is_cut: boolean;
            json: string;
            key: string;
        };
        /** WorkspaceUnit */
        WorkspaceUnit: {
            dag_ids: string[];
            folder: string | null;
            problems: components["schemas"]["WorkspaceProblem"][];
            /** @description The DAG file */
            source: string;
        };
        /** WorkspaceUnits */
        WorkspaceUnits: {
            units: components["schemas"]["WorkspaceUnit"][];
        };
        /** XCom */
        XCom: {
            dag_display_name: string;
            dag_id: string;
            /** @description The same as run_id */
            dag_run_id: string;
            key: string;
            logical_date: string | null;
            map_index: number;
            /** Format: date-time */
            run_after: string;
            run_id: string;
            task_display_name: string;
            task_id: string;
            /** Format: date-time */
            timestamp: string;
            /** @description Any JSON value; with `stringify` a string, or null */
            value: unknown;
        };
        /** XComCollection */
        XComCollection: {
            total_entries: number;
            xcom_entries: components["schemas"]["XComSummary"][];
        };
        /** XComCreateBody */
        XComCreateBody: {
            key: string;
            /**
             * @description -1: not mapped
             * @default -1
             */
            map_index?: number;
            /** @description Any JSON value without the keys Airflow encodes other types with */
            value: unknown;
        };
        /** XComSummary */
        XComSummary: {
            dag_display_name: string;
            dag_id: string;
            /** @description The same as run_id */
            dag_run_id: string;
            key: string;
            logical_date: string | null;
            map_index: number;
            /** Format: date-time */
            run_after: string;
            run_id: string;
            task_display_name: string;
            task_id: string;
            /** Format: date-time */
            timestamp: string;
        };
        /** XComUpdateBody */
        XComUpdateBody: {
            /**
             * @description -1: not mapped
             * @default -1
             */
            map_index?: number;
            /** @description Any JSON value without the keys Airflow encodes other types with */
            value: unknown;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_alerts: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                status?: "open" | "over";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertCollection"];
                };
            };
        };
    };
    acknowledge_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
        };
    };
    get_alert_rules: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleCollection"];
                };
            };
        };
    };
    post_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAlertRuleBody"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
        };
    };
    delete_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    mute_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MuteAlertRuleBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
        };
    };
    test_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertTestResult"];
                };
            };
        };
    };
    get_assets: {
        parameters: {
            query?: {
                /** @description Used by one of these DAGs */
                dag_ids?: string[];
                /** @description How many entries at most */
                limit?: number;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                name_prefix_pattern?: string;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Leave out what no DAG uses any more */
                only_active?: boolean;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, name, uri, created_at, updated_at */
                order_by?: ("id" | "-id" | "name" | "-name" | "uri" | "-uri" | "created_at" | "-created_at" | "updated_at" | "-updated_at")[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                uri_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                uri_prefix_pattern?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetCollection"];
                };
            };
        };
    };
    get_asset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                asset_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
        };
    };
    materialize_asset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                asset_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DAGRunCreate"] | null;
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGRun"];
                };
            };
        };
    };
    get_asset_queued_events: {
        parameters: {
            query?: {
                before?: string;
            };
            header?: never;
            path: {
                asset_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedEventCollection"];
                };
            };
        };
    };
    delete_asset_queued_events: {
        parameters: {
            query?: {
                before?: string;
            };
            header?: never;
            path: {
                asset_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    list_asset_state_store: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path: {
                asset_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetStateStoreCollectionResponse"];
                };
            };
        };
    };
    clear_asset_state_store: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                asset_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_asset_state_store: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                asset_id: number;
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetStateStoreResponse"];
                };
            };
        };
    };
    set_asset_state_store: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                asset_id: number;
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssetStateStoreBody"];
            };
        };
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    delete_asset_state_store: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                asset_id: number;
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_asset_aliases: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                name_prefix_pattern?: string;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, name */
                order_by?: ("id" | "-id" | "name" | "-name")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetAliasCollection"];
                };
            };
        };
    };
    get_asset_alias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                asset_alias_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetAlias"];
                };
            };
        };
    };
    get_asset_events: {
        parameters: {
            query?: {
                asset_id?: number;
                /** @description How many entries at most */
                limit?: number;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                name_prefix_pattern?: string;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: timestamp, id, source_task_id, source_dag_id, source_run_id, source_map_index */
                order_by?: ("timestamp" | "-timestamp" | "id" | "-id" | "source_task_id" | "-source_task_id" | "source_dag_id" | "-source_dag_id" | "source_run_id" | "-source_run_id" | "source_map_index" | "-source_map_index")[];
                source_dag_id?: string;
                source_map_index?: number;
                source_run_id?: string;
                source_task_id?: string;
                timestamp_gt?: string;
                timestamp_gte?: string;
                timestamp_lt?: string;
                timestamp_lte?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetEventCollection"];
                };
            };
        };
    };
    create_asset_event: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssetEventCreate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetEvent"];
                };
            };
        };
    };
    login: {
        parameters: {
            query?: {
                next?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the login page */
            307: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the login page; by way of the identity provider where the session came from it */
            307: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    oidc_approve_cli: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproveCliRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApproveCliResponse"];
                };
            };
        };
    };
    oidc_cli_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CliTokenRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
        };
    };
    oidc_device_login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceLogin"];
                };
            };
        };
    };
    oidc_device_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeviceTokenRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DevicePending"];
                };
            };
        };
    };
    oidc_login: {
        parameters: {
            query?: {
                next?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the identity provider */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    change_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePasswordRequest"];
            };
        };
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    renew_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
        };
    };
    list_backfills: {
        parameters: {
            query?: {
                /** @description Only those that are not completed; false: the others */
                active?: boolean;
                dag_id?: string;
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, created_at, from_date, to_date, completed_at */
                order_by?: ("id" | "-id" | "created_at" | "-created_at" | "from_date" | "-from_date" | "to_date" | "-to_date" | "completed_at" | "-completed_at")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillCollection"];
                };
            };
        };
    };
    create_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackfillCreate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    get_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                backfill_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    cancel_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                backfill_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    pause_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                backfill_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    unpause_backfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                backfill_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backfill"];
                };
            };
        };
    };
    create_backfill_dry_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackfillCreate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillDryRun"];
                };
            };
        };
    };
    get_bundles: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                name_prefix_pattern?: string;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BundleCollection"];
                };
            };
        };
    };
    post_bundle: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BundleBody"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Bundle"];
                };
            };
        };
    };
    get_bundle: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bundle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Bundle"];
                };
            };
        };
    };
    delete_bundle: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bundle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_bundle: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bundle: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BundleUpdate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Bundle"];
                };
            };
        };
    };
    get_deployments: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path: {
                bundle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentCollection"];
                };
            };
        };
    };
    get_deployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bundle: string;
                deployment: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
        };
    };
    post_rollback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bundle: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RollbackBody"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
        };
    };
    post_bundle_sync: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bundle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Bundle"];
                };
            };
        };
    };
    post_bundle_webhook: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path: {
                bundle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedWebhook"];
                };
            };
        };
    };
    get_config: {
        parameters: {
            query?: {
                /** @description Only this section */
                section?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its sections; as text, in the form of a configuration file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Config"];
                    "text/plain": string;
                };
            };
        };
    };
    get_config_value: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                option: string;
                section: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its sections; as text, in the form of a configuration file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Config"];
                    "text/plain": string;
                };
            };
        };
    };
    get_connections: {
        parameters: {
            query?: {
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                connection_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                connection_id_prefix_pattern?: string;
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: connection_id, conn_id, conn_type, description, host, port, id, team_name */
                order_by?: ("connection_id" | "-connection_id" | "conn_id" | "-conn_id" | "conn_type" | "-conn_type" | "description" | "-description" | "host" | "-host" | "port" | "-port" | "id" | "-id" | "team_name" | "-team_name")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionCollection"];
                };
            };
        };
    };
    post_connection: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A field that is left out keeps its stored value; an empty string clears it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectionBody"];
            };
        };
        responses: {
            /** @description The password is never returned. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
        };
    };
    bulk_connections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkConnectionsBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResponse"];
                };
            };
        };
    };
    get_connection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The password is never returned. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
        };
    };
    delete_connection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_connection: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: connection_id, conn_type, description, host, login, schema, port, password, extra, team_name */
                update_mask?: ("connection_id" | "conn_type" | "description" | "host" | "login" | "schema" | "port" | "password" | "extra" | "team_name" | "")[];
            };
            header?: never;
            path: {
                connection_id: string;
            };
            cookie?: never;
        };
        /** @description A field that is left out keeps its stored value; an empty string clears it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectionUpdate"];
            };
        };
        responses: {
            /** @description The password is never returned. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
        };
    };
    create_default_connections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_connection_test: {
        parameters: {
            query?: never;
            header: {
                "airflow-connection-test-token": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionTestState"];
                };
            };
        };
    };
    enqueue_connection_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A field that is left out keeps its stored value; an empty string clears it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectionTestRequest"];
            };
        };
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionTestQueued"];
                };
            };
        };
    };
    test_connection: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A field that is left out keeps its stored value; an empty string clears it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectionUpdate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionTestResponse"];
                };
            };
        };
    };
    get_cost: {
        parameters: {
            query?: {
                by?: "dag" | "task" | "owner" | "tag" | "asset" | "queue" | "tenant";
                /** @description Only this DAG */
                dag_id?: string;
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description The first day, in UTC. Default: seven days ago */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cost"];
                };
            };
        };
    };
    get_dags: {
        parameters: {
            query?: {
                /** @description Part of the name or URI of an asset the schedule waits for */
                asset_dependency?: string;
                bundle_name?: string;
                bundle_version?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_display_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_display_name_prefix_pattern?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_id_prefix_pattern?: string;
                dag_run_end_date_gt?: string;
                dag_run_end_date_gte?: string;
                dag_run_end_date_lt?: string;
                dag_run_end_date_lte?: string;
                dag_run_start_date_gt?: string;
                dag_run_start_date_gte?: string;
                dag_run_start_date_lt?: string;
                dag_run_start_date_lte?: string;
                dag_run_state?: ("queued" | "running" | "success" | "failed")[];
                /** @description Airflow’s name for the same */
                exclude_stale?: boolean;
                has_asset_schedule?: boolean;
                has_import_errors?: boolean;
                /** @description Of the caller */
                is_favorite?: boolean;
                /** @description Of the run that is newest by run_after */
                last_dag_run_state?: "queued" | "running" | "success" | "failed";
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Leave out stale DAGs */
                only_active?: boolean;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: dag_id, dag_display_name, next_dagrun, last_run_state, last_run_start_date, state, start_date */
                order_by?: ("dag_id" | "-dag_id" | "dag_display_name" | "-dag_display_name" | "next_dagrun" | "-next_dagrun" | "last_run_state" | "-last_run_state" | "last_run_start_date" | "-last_run_start_date" | "state" | "-state" | "start_date" | "-start_date")[];
                owners?: string[];
                paused?: boolean;
                tags?: string[];
                /** @description Default: any */
                tags_match_mode?: "any" | "all";
                timetable_type?: string[];
                /** @description Each DAG also has `newest_run` and `newest_failed_run`, for callers who may read runs */
                with_newest_runs?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGCollection"];
                };
            };
        };
    };
    patch_dags: {
        parameters: {
            query?: {
                /** @description Part of the name or URI of an asset the schedule waits for */
                asset_dependency?: string;
                bundle_name?: string;
                bundle_version?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_display_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_display_name_prefix_pattern?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_id_prefix_pattern?: string;
                dag_run_end_date_gt?: string;
                dag_run_end_date_gte?: string;
                dag_run_end_date_lt?: string;
                dag_run_end_date_lte?: string;
                dag_run_start_date_gt?: string;
                dag_run_start_date_gte?: string;
                dag_run_start_date_lt?: string;
                dag_run_start_date_lte?: string;
                dag_run_state?: ("queued" | "running" | "success" | "failed")[];
                /** @description Airflow’s name for the same */
                exclude_stale?: boolean;
                has_asset_schedule?: boolean;
                has_import_errors?: boolean;
                /** @description Of the caller */
                is_favorite?: boolean;
                /** @description Of the run that is newest by run_after */
                last_dag_run_state?: "queued" | "running" | "success" | "failed";
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Leave out stale DAGs */
                only_active?: boolean;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: dag_id, dag_display_name, next_dagrun, last_run_state, last_run_start_date, state, start_date */
                order_by?: ("dag_id" | "-dag_id" | "dag_display_name" | "-dag_display_name" | "next_dagrun" | "-next_dagrun" | "last_run_state" | "-last_run_state" | "last_run_start_date" | "-last_run_start_date" | "state" | "-state" | "start_date" | "-start_date")[];
                owners?: string[];
                paused?: boolean;
                tags?: string[];
                /** @description Default: any */
                tags_match_mode?: "any" | "all";
                timetable_type?: string[];
                /** @description Write only these of the fields sent; repeatable. One of: is_paused */
                update_mask?: ("is_paused" | "")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DAGUpdate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGCollection"];
                };
            };
        };
    };
    get_dag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAG"];
                };
            };
        };
    };
    delete_dag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_dag: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: is_paused */
                update_mask?: ("is_paused" | "")[];
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DAGUpdate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAG"];
                };
            };
        };
    };
    get_dag_asset_queued_event: {
        parameters: {
            query?: {
                before?: string;
            };
            header?: never;
            path: {
                asset_id: number;
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedEvent"];
                };
            };
        };
    };
    delete_dag_asset_queued_event: {
        parameters: {
            query?: {
                before?: string;
            };
            header?: never;
            path: {
                asset_id: number;
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_dag_asset_queued_events: {
        parameters: {
            query?: {
                before?: string;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedEventCollection"];
                };
            };
        };
    };
    delete_dag_asset_queued_events: {
        parameters: {
            query?: {
                before?: string;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    clear_dag_runs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkDAGRunClear"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClearTaskInstanceCollection"] | components["schemas"]["DAGRunCollection"];
                };
            };
        };
    };
    clear_dag_run_partitions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClearPartitions"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClearedPartitions"];
                };
            };
        };
    };
    post_clear_task_instances: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClearTaskInstancesBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    get_cost_advice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CostAdvice"];
                };
            };
        };
    };
    get_dag_runs: {
        parameters: {
            query?: {
                bundle_version?: string;
                /** @description Part of the conf: text in any letter case, or a JSON object */
                conf_contains?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                consuming_asset_pattern?: string;
                /** @description Page by place: empty for the first page, then `next_cursor` or `previous_cursor` of the answer before. Pages stay apart while entries are added. `offset` and `total_entries` do not apply then. */
                cursor?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_id_prefix_pattern?: string;
                /** @description Version numbers */
                dag_version?: number[];
                /** @description Seconds */
                duration_gt?: number;
                /** @description Seconds */
                duration_gte?: number;
                /** @description Seconds */
                duration_lt?: number;
                /** @description Seconds */
                duration_lte?: number;
                end_date_gt?: string;
                end_date_gte?: string;
                end_date_lt?: string;
                end_date_lte?: string;
                /** @description How many entries at most */
                limit?: number;
                logical_date_gt?: string;
                logical_date_gte?: string;
                logical_date_lt?: string;
                logical_date_lte?: string;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, state, dag_id, run_id, dag_run_id, logical_date, run_after, start_date, end_date, updated_at, conf, duration */
                order_by?: ("id" | "-id" | "state" | "-state" | "dag_id" | "-dag_id" | "run_id" | "-run_id" | "dag_run_id" | "-dag_run_id" | "logical_date" | "-logical_date" | "run_after" | "-run_after" | "start_date" | "-start_date" | "end_date" | "-end_date" | "updated_at" | "-updated_at" | "conf" | "-conf" | "duration" | "-duration")[];
                partition_date_gt?: string;
                partition_date_gte?: string;
                partition_date_lt?: string;
                partition_date_lte?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                partition_key_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                partition_key_prefix_pattern?: string;
                run_after_gt?: string;
                run_after_gte?: string;
                run_after_lt?: string;
                run_after_lte?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                run_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                run_id_prefix_pattern?: string;
                run_type?: ("backfill" | "scheduled" | "manual" | "asset_triggered" | "asset_materialization" | "operator_triggered" | "dataset_triggered")[];
                start_date_gt?: string;
                start_date_gte?: string;
                start_date_lt?: string;
                start_date_lte?: string;
                state?: ("queued" | "running" | "success" | "failed")[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                triggering_user_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                triggering_user_name_prefix_pattern?: string;
                updated_at_gt?: string;
                updated_at_gte?: string;
                updated_at_lt?: string;
                updated_at_lte?: string;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGRunCollection"];
                };
            };
        };
    };
    trigger_dag_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DAGRunCreate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGRun"];
                };
            };
        };
    };
    bulk_dag_runs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkDAGRunsBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResponse"];
                };
            };
        };
    };
    get_dag_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGRun"];
                };
            };
        };
    };
    delete_dag_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_dag_run: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: state, note */
                update_mask?: ("state" | "note" | "")[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DAGRunUpdate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGRun"];
                };
            };
        };
    };
    clear_dag_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DAGRunClear"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClearTaskInstanceCollection"] | components["schemas"]["DAGRun"];
                };
            };
        };
    };
    get_dag_run_diagnosis: {
        parameters: {
            query?: {
                /** @description Last lines of each failed log */
                log_tail_lines?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDiagnosis"];
                };
            };
        };
    };
    get_dag_run_files: {
        parameters: {
            query: {
                version_number: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagRunFiles"];
                };
            };
        };
    };
    read_dag_run_files: {
        parameters: {
            query: {
                version_number: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DagRunFilePartsBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagRunFileParts"];
                };
            };
        };
    };
    get_hitl_details: {
        parameters: {
            query?: {
                body_search?: string;
                created_at_gt?: string;
                created_at_gte?: string;
                created_at_lt?: string;
                created_at_lte?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_id_prefix_pattern?: string;
                /** @description How many entries at most */
                limit?: number;
                map_index?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: ti_id, subject, responded_at, created_at, responded_by_user_id, responded_by_user_name, dag_id, run_id, run_after, task_display_name, rendered_map_index, task_instance_operator, task_instance_state */
                order_by?: ("ti_id" | "-ti_id" | "subject" | "-subject" | "responded_at" | "-responded_at" | "created_at" | "-created_at" | "responded_by_user_id" | "-responded_by_user_id" | "responded_by_user_name" | "-responded_by_user_name" | "dag_id" | "-dag_id" | "run_id" | "-run_id" | "run_after" | "-run_after" | "task_display_name" | "-task_display_name" | "rendered_map_index" | "-rendered_map_index" | "task_instance_operator" | "-task_instance_operator" | "task_instance_state" | "-task_instance_state")[];
                responded_by_user_id?: string[];
                responded_by_user_name?: string[];
                response_received?: boolean;
                state?: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input" | "none")[];
                subject_search?: string;
                task_id?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                task_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                task_id_prefix_pattern?: string;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HitlDetailCollection"];
                };
            };
        };
    };
    get_replaced_xcom_entries: {
        parameters: {
            query?: {
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplacedXComCollection"];
                };
            };
        };
    };
    patch_task_group_instances: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: new_state, note */
                update_mask?: ("new_state" | "note" | "")[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                group_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchTaskInstanceBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    patch_task_group_instances_dry_run: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: new_state, note */
                update_mask?: ("new_state" | "note" | "")[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                group_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchTaskInstanceBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    get_task_instances: {
        parameters: {
            query?: {
                /** @description Page by place: empty for the first page, then `next_cursor` or `previous_cursor` of the answer before. Pages stay apart while entries are added. `offset` and `total_entries` do not apply then. */
                cursor?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_id_prefix_pattern?: string;
                /** @description Seconds */
                duration_gt?: number;
                /** @description Seconds */
                duration_gte?: number;
                /** @description Seconds */
                duration_lt?: number;
                /** @description Seconds */
                duration_lte?: number;
                end_date_gt?: string;
                end_date_gte?: string;
                end_date_lt?: string;
                end_date_lte?: string;
                executor?: string[];
                /** @description How many entries at most; without it 1000, where the path has `~` 100. A `Link` header with `rel="next"` says that there are more */
                limit?: number;
                logical_date_gt?: string;
                logical_date_gte?: string;
                logical_date_lt?: string;
                logical_date_lte?: string;
                map_index?: number[];
                /** @description How many entries to leave out first */
                offset?: number;
                operator?: string[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                operator_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                operator_name_prefix_pattern?: string;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, dag_id, task_id, map_index, run_after, logical_date, data_interval_start, data_interval_end, run_id, state, duration, start_date, end_date, updated_at, queued_when, scheduled_when, try_number, max_tries, priority_weight, pool_slots, pool, queue, operator, hostname, rendered_map_index */
                order_by?: ("id" | "-id" | "dag_id" | "-dag_id" | "task_id" | "-task_id" | "map_index" | "-map_index" | "run_after" | "-run_after" | "logical_date" | "-logical_date" | "data_interval_start" | "-data_interval_start" | "data_interval_end" | "-data_interval_end" | "run_id" | "-run_id" | "state" | "-state" | "duration" | "-duration" | "start_date" | "-start_date" | "end_date" | "-end_date" | "updated_at" | "-updated_at" | "queued_when" | "-queued_when" | "scheduled_when" | "-scheduled_when" | "try_number" | "-try_number" | "max_tries" | "-max_tries" | "priority_weight" | "-priority_weight" | "pool_slots" | "-pool_slots" | "pool" | "-pool" | "queue" | "-queue" | "operator" | "-operator" | "hostname" | "-hostname" | "rendered_map_index" | "-rendered_map_index")[];
                pool?: string[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                pool_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                pool_name_prefix_pattern?: string;
                queue?: string[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                queue_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                queue_name_prefix_pattern?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                rendered_map_index_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                rendered_map_index_prefix_pattern?: string;
                run_after_gt?: string;
                run_after_gte?: string;
                run_after_lt?: string;
                run_after_lte?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                run_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                run_id_prefix_pattern?: string;
                start_date_gt?: string;
                start_date_gte?: string;
                start_date_lt?: string;
                start_date_lte?: string;
                state?: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input" | "none" | "no_status" | "null")[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                task_display_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                task_display_name_prefix_pattern?: string;
                /** @description Tasks in this group and in the groups inside it */
                task_group_id?: string;
                task_id?: string;
                try_number?: number[];
                updated_at_gt?: string;
                updated_at_gte?: string;
                updated_at_lt?: string;
                updated_at_lte?: string;
                version_number?: number[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    bulk_task_instances: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkTaskInstancesBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResponse"];
                };
            };
        };
    };
    get_task_instance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstance"];
                };
            };
        };
    };
    delete_task_instance: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_task_instance: {
        parameters: {
            query?: {
                map_index?: number;
                /** @description Write only these of the fields sent; repeatable. One of: new_state, note */
                update_mask?: ("new_state" | "note" | "")[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchTaskInstanceBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    get_mapped_task_instance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstance"];
                };
            };
        };
    };
    patch_mapped_task_instance: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: new_state, note */
                update_mask?: ("new_state" | "note" | "")[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchTaskInstanceBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    get_mapped_task_instance_dependencies: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskDependencyCollection"];
                };
            };
        };
    };
    patch_mapped_task_instance_dry_run: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: new_state, note */
                update_mask?: ("new_state" | "note" | "")[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchTaskInstanceBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    get_hitl_detail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HitlDetail"];
                };
            };
        };
    };
    update_hitl_detail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HitlAnswer"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HitlResponse"];
                };
            };
        };
    };
    get_hitl_detail_try_detail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
                try_number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HitlDetailHistory"];
                };
            };
        };
    };
    get_mapped_task_instance_tries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceHistoryCollection"];
                };
            };
        };
    };
    get_mapped_task_instance_try_details: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                map_index: number;
                task_id: string;
                task_try_number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceHistory"];
                };
            };
        };
    };
    get_task_instance_dependencies: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskDependencyCollection"];
                };
            };
        };
    };
    get_task_instance_diagnosis: {
        parameters: {
            query?: {
                /** @description Last lines of each failed log */
                log_tail_lines?: number;
                map_index?: number;
                /** @description Default: the current try */
                try_number?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceDiagnosis"];
                };
            };
        };
    };
    patch_task_instance_dry_run: {
        parameters: {
            query?: {
                map_index?: number;
                /** @description Write only these of the fields sent; repeatable. One of: new_state, note */
                update_mask?: ("new_state" | "note" | "")[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchTaskInstanceBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    get_external_log_url: {
        parameters: {
            query?: {
                /** @description Of a mapped task */
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                /** @description At least 1. As NDJSON, 0 says why a task that never ran has no log */
                try_number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalLogUrlResponse"];
                };
            };
        };
    };
    get_extra_links: {
        parameters: {
            query?: {
                map_index?: number;
                /** @description Default: the current one; of others none are kept */
                try_number?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExtraLinkCollection"];
                };
            };
        };
    };
    get_mapped_task_instances: {
        parameters: {
            query?: {
                /** @description Seconds */
                duration_gt?: number;
                /** @description Seconds */
                duration_gte?: number;
                /** @description Seconds */
                duration_lt?: number;
                /** @description Seconds */
                duration_lte?: number;
                end_date_gt?: string;
                end_date_gte?: string;
                end_date_lt?: string;
                end_date_lte?: string;
                executor?: string[];
                /** @description How many entries at most */
                limit?: number;
                logical_date_gt?: string;
                logical_date_gte?: string;
                logical_date_lt?: string;
                logical_date_lte?: string;
                map_index?: number[];
                /** @description How many entries to leave out first */
                offset?: number;
                operator?: string[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                operator_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                operator_name_prefix_pattern?: string;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, dag_id, task_id, map_index, run_after, logical_date, data_interval_start, data_interval_end, run_id, state, duration, start_date, end_date, updated_at, queued_when, scheduled_when, try_number, max_tries, priority_weight, pool_slots, pool, queue, operator, hostname, rendered_map_index */
                order_by?: ("id" | "-id" | "dag_id" | "-dag_id" | "task_id" | "-task_id" | "map_index" | "-map_index" | "run_after" | "-run_after" | "logical_date" | "-logical_date" | "data_interval_start" | "-data_interval_start" | "data_interval_end" | "-data_interval_end" | "run_id" | "-run_id" | "state" | "-state" | "duration" | "-duration" | "start_date" | "-start_date" | "end_date" | "-end_date" | "updated_at" | "-updated_at" | "queued_when" | "-queued_when" | "scheduled_when" | "-scheduled_when" | "try_number" | "-try_number" | "max_tries" | "-max_tries" | "priority_weight" | "-priority_weight" | "pool_slots" | "-pool_slots" | "pool" | "-pool" | "queue" | "-queue" | "operator" | "-operator" | "hostname" | "-hostname" | "rendered_map_index" | "-rendered_map_index")[];
                pool?: string[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                pool_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                pool_name_prefix_pattern?: string;
                queue?: string[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                queue_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                queue_name_prefix_pattern?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                rendered_map_index_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                rendered_map_index_prefix_pattern?: string;
                run_after_gt?: string;
                run_after_gte?: string;
                run_after_lt?: string;
                run_after_lte?: string;
                start_date_gt?: string;
                start_date_gte?: string;
                start_date_lt?: string;
                start_date_lte?: string;
                state?: ("removed" | "scheduled" | "queued" | "running" | "success" | "restarting" | "failed" | "up_for_retry" | "up_for_reschedule" | "upstream_failed" | "skipped" | "deferred" | "awaiting_input" | "none" | "no_status" | "null")[];
                try_number?: number[];
                updated_at_gt?: string;
                updated_at_gte?: string;
                updated_at_lt?: string;
                updated_at_lte?: string;
                version_number?: number[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    get_log: {
        parameters: {
            query?: {
                /** @description Stay and send what is written until the attempt is over; as text or NDJSON */
                follow?: boolean;
                /** @description Accepted for Airflow’s sake: the log is always whole */
                full_content?: boolean;
                /** @description Of a mapped task */
                map_index?: number;
                /** @description With `search`: how many at most */
                max_matches?: number;
                /** @description Only lines with this text, in any letter case, with their numbers */
                search?: string;
                /** @description Only so many of the last lines */
                tail_lines?: number;
                /** @description Go on where an earlier answer ended */
                token?: string;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                /** @description At least 1. As NDJSON, 0 says why a task that never ran has no log */
                try_number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The log. The header `Airflow-Continuation-Token` is there while the attempt may still write; after a search, `X-Log-Search-Complete` says whether all matches are in */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstancesLogResponse"];
                    "application/x-ndjson": string;
                    "text/plain": string;
                };
            };
        };
    };
    post_replay_value: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayValueBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayValue"];
                };
            };
        };
    };
    list_task_state_store: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                map_index?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskStateStoreCollectionResponse"];
                };
            };
        };
    };
    clear_task_state_store: {
        parameters: {
            query?: {
                /** @description Those of all instances of the task; `map_index` does not count then */
                all_map_indices?: boolean;
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_task_state_store: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                key: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskStateStoreResponse"];
                };
            };
        };
    };
    set_task_state_store: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                key: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskStateStoreBody"];
            };
        };
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    delete_task_state_store: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                key: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_task_state_store: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                key: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskStateStorePatchBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskStateStoreResponse"];
                };
            };
        };
    };
    get_task_instance_tries: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceHistoryCollection"];
                };
            };
        };
    };
    get_task_instance_try_details: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                task_try_number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceHistory"];
                };
            };
        };
    };
    get_task_instance_usage: {
        parameters: {
            query?: {
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceUsage"];
                };
            };
        };
    };
    get_xcom_entries: {
        parameters: {
            query?: {
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_display_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_display_name_prefix_pattern?: string;
                /** @description How many entries at most */
                limit?: number;
                logical_date_gt?: string;
                logical_date_gte?: string;
                logical_date_lt?: string;
                logical_date_lte?: string;
                map_index?: number;
                /** @description The same */
                map_index_filter?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: key, dag_id, run_id, task_id, map_index, timestamp, run_after */
                order_by?: ("key" | "-key" | "dag_id" | "-dag_id" | "run_id" | "-run_id" | "task_id" | "-task_id" | "map_index" | "-map_index" | "timestamp" | "-timestamp" | "run_after" | "-run_after")[];
                run_after_gt?: string;
                run_after_gte?: string;
                run_after_lt?: string;
                run_after_lte?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                run_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                run_id_prefix_pattern?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                task_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                task_id_prefix_pattern?: string;
                xcom_key?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                xcom_key_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                xcom_key_prefix_pattern?: string;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["XComCollection"];
                };
            };
        };
    };
    create_xcom_entry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["XComCreateBody"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["XCom"];
                };
            };
        };
    };
    get_xcom_entry: {
        parameters: {
            query?: {
                /** @description Show dates, tuples and the like as people read them */
                deserialize?: boolean;
                /** @description -1: not mapped */
                map_index?: number;
                /** @description The value as one string */
                stringify?: boolean;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                xcom_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["XCom"];
                };
            };
        };
    };
    delete_xcom_entry: {
        parameters: {
            query?: {
                /** @description -1: not mapped */
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                xcom_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    update_xcom_entry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                xcom_key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["XComUpdateBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["XCom"];
                };
            };
        };
    };
    get_xcom_entry_with_slashes: {
        parameters: {
            query?: {
                /** @description Show dates, tuples and the like as people read them */
                deserialize?: boolean;
                /** @description -1: not mapped */
                map_index?: number;
                /** @description The value as one string */
                stringify?: boolean;
            };
            header?: never;
            path: {
                "*": string;
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                xcom_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["XCom"];
                };
            };
        };
    };
    delete_xcom_entry_with_slashes: {
        parameters: {
            query?: {
                /** @description -1: not mapped */
                map_index?: number;
            };
            header?: never;
            path: {
                "*": string;
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                xcom_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    update_xcom_entry_with_slashes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                "*": string;
                dag_id: string;
                dag_run_id: string;
                task_id: string;
                xcom_key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["XComUpdateBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["XCom"];
                };
            };
        };
    };
    get_task_instances_batch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskInstancesBatchBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInstanceCollection"];
                };
            };
        };
    };
    get_upstream_asset_events: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetEventCollection"];
                };
            };
        };
    };
    wait_dag_run_until_finished: {
        parameters: {
            query: {
                /** @description Seconds between two looks */
                interval: number;
                /** @description Tasks whose returned values are wanted. Default: the result of the DAG, if it has one */
                result?: string[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "application/x-ndjson": string;
                };
            };
        };
    };
    get_list_dag_runs_batch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DAGRunsBatch"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGRunCollection"];
                };
            };
        };
    };
    get_dag_versions: {
        parameters: {
            query?: {
                bundle_name?: string;
                bundle_version?: string;
                /** @description How many entries at most; without it 1000, where the path has `~` 100. A `Link` header with `rel="next"` says that there are more */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, version_number, bundle_name, bundle_version */
                order_by?: ("id" | "-id" | "version_number" | "-version_number" | "bundle_name" | "-bundle_name" | "bundle_version" | "-bundle_version")[];
                version_number?: number;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagVersionCollection"];
                };
            };
        };
    };
    post_dag_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DagArtifact"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagVersion"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagVersion"];
                };
            };
        };
    };
    get_dag_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                version_number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagVersion"];
                };
            };
        };
    };
    get_dag_details: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DAGDetails"];
                };
            };
        };
    };
    favorite_dag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_dag_rollback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DagRollbackBody"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagRollback"];
                };
            };
        };
    };
    get_dag_spec: {
        parameters: {
            query?: {
                /** @description Default: the newest */
                version_number?: number;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    get_tasks: {
        parameters: {
            query?: {
                order_by?: "" | "task_id" | "-task_id" | "task_display_name" | "-task_display_name" | "owner" | "-owner" | "start_date" | "-start_date" | "end_date" | "-end_date" | "trigger_rule" | "-trigger_rule" | "depends_on_past" | "-depends_on_past" | "wait_for_downstream" | "-wait_for_downstream" | "retries" | "-retries" | "queue" | "-queue" | "pool" | "-pool" | "pool_slots" | "-pool_slots" | "execution_timeout" | "-execution_timeout" | "retry_delay" | "-retry_delay" | "retry_exponential_backoff" | "-retry_exponential_backoff" | "priority_weight" | "-priority_weight" | "weight_rule" | "-weight_rule" | "ui_color" | "-ui_color" | "ui_fgcolor" | "-ui_fgcolor" | "template_fields" | "-template_fields" | "downstream_task_ids" | "-downstream_task_ids" | "doc_md" | "-doc_md" | "operator_name" | "-operator_name" | "params" | "-params" | "class_ref" | "-class_ref" | "is_mapped" | "-is_mapped" | "extra_links" | "-extra_links";
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskCollection"];
                };
            };
        };
    };
    get_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    unfavorite_dag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_dag_source: {
        parameters: {
            query?: {
                /** @description Default: the newest */
                version_number?: number;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The source; as text, without what else is known of it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagSource"];
                    "text/plain": string;
                };
            };
        };
    };
    get_dag_stats: {
        parameters: {
            query?: {
                /** @description Only these; default: all that are not stale */
                dag_ids?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagStatsCollection"];
                };
            };
        };
    };
    get_dag_tags: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: name */
                order_by?: ("name" | "-name")[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                tag_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                tag_name_prefix_pattern?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagTagCollection"];
                };
            };
        };
    };
    list_dag_warnings: {
        parameters: {
            query?: {
                dag_id?: string;
                /** @description As `warning_type`, `airflow difference` for what works differently than on Airflow, and `value changed` for a DAG that was compiled with an older value of a variable or connection */
                kind?: ("asset conflict" | "non-existent pool" | "runtime varying value") | "airflow difference" | "value changed";
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: dag_id, warning_type, message, timestamp */
                order_by?: ("dag_id" | "-dag_id" | "warning_type" | "-warning_type" | "message" | "-message" | "timestamp" | "-timestamp")[];
                warning_type?: "asset conflict" | "non-existent pool" | "runtime varying value";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagWarningCollection"];
                };
            };
        };
    };
    get_event_logs: {
        parameters: {
            query?: {
                after?: string;
                before?: string;
                dag_id?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_id_prefix_pattern?: string;
                event?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                event_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                event_prefix_pattern?: string;
                excluded_events?: string[];
                included_events?: string[];
                /** @description How many entries at most */
                limit?: number;
                map_index?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: event_log_id, id, when, dttm, dag_id, task_id, run_id, event, owner, logical_date, extra */
                order_by?: ("event_log_id" | "-event_log_id" | "id" | "-id" | "when" | "-when" | "dttm" | "-dttm" | "dag_id" | "-dag_id" | "task_id" | "-task_id" | "run_id" | "-run_id" | "event" | "-event" | "owner" | "-owner" | "logical_date" | "-logical_date" | "extra" | "-extra")[];
                owner?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                owner_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                owner_prefix_pattern?: string;
                run_id?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                run_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                run_id_prefix_pattern?: string;
                task_id?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                task_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                task_id_prefix_pattern?: string;
                try_number?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventLogCollection"];
                };
            };
        };
    };
    get_event_log: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event_log_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventLog"];
                };
            };
        };
    };
    compile_workspace_file: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceCompile"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceUnits"];
                };
            };
        };
    };
    get_workspace_file: {
        parameters: {
            query: {
                /** @description Relative to the workspace, folders separated by `/` */
                path: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceFile"];
                };
            };
        };
    };
    put_workspace_file: {
        parameters: {
            query: {
                /** @description Relative to the workspace, folders separated by `/` */
                path: string;
            };
            header?: {
                /** @description The tag that came with the file */
                "if-match"?: string;
                /** @description `*`: there must be no such file yet */
                "if-none-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceFileWrite"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceFileTag"];
                };
            };
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceFileTag"];
                };
            };
        };
    };
    delete_workspace_file: {
        parameters: {
            query: {
                /** @description Relative to the workspace, folders separated by `/` */
                path: string;
            };
            header?: {
                /** @description The tag that came with the file */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rename_workspace_file: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceRename"];
            };
        };
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_workspace_test: {
        parameters: {
            query?: {
                /** @description Leaves out what is known */
                log_from?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Null if you have started none since the control plane was started */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LatestWorkspaceTest"];
                };
            };
        };
    };
    post_workspace_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceRunOrder"] | components["schemas"]["WorkspacePytestOrder"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkspaceTest"];
                };
            };
        };
    };
    delete_workspace_test: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_workspace: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
        };
    };
    get_import_errors: {
        parameters: {
            query?: {
                /** @description Only of this bundle */
                bundle_name?: string;
                /** @description Only of this file */
                filename?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                filename_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                filename_prefix_pattern?: string;
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, import_error_id, timestamp, filename, bundle_name, stacktrace, stack_trace */
                order_by?: ("id" | "-id" | "import_error_id" | "-import_error_id" | "timestamp" | "-timestamp" | "filename" | "-filename" | "bundle_name" | "-bundle_name" | "stacktrace" | "-stacktrace" | "stack_trace" | "-stack_trace")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportErrorCollection"];
                };
            };
        };
    };
    post_import_error: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportErrorReport"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportError"];
                };
            };
        };
    };
    get_import_error: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                import_error_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportError"];
                };
            };
        };
    };
    delete_import_error: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                import_error_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_jobs: {
        parameters: {
            query?: {
                end_date_gt?: string;
                end_date_gte?: string;
                end_date_lt?: string;
                end_date_lte?: string;
                executor_class?: string;
                hostname?: string;
                is_alive?: boolean;
                job_state?: string;
                job_type?: string;
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, job_type, state, hostname, unixname, executor_class, start_date, end_date, latest_heartbeat, dag_id */
                order_by?: ("id" | "-id" | "job_type" | "-job_type" | "state" | "-state" | "hostname" | "-hostname" | "unixname" | "-unixname" | "executor_class" | "-executor_class" | "start_date" | "-start_date" | "end_date" | "-end_date" | "latest_heartbeat" | "-latest_heartbeat" | "dag_id" | "-dag_id")[];
                start_date_gt?: string;
                start_date_gte?: string;
                start_date_lt?: string;
                start_date_lte?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobCollection"];
                };
            };
        };
    };
    get_executor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutorInfo"];
                };
            };
        };
    };
    get_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthInfo"];
                };
            };
        };
    };
    reparse_dag_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As the DAG says: `file_token` */
                file_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is compiled anew */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": null;
                };
            };
        };
    };
    get_tenants: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantCollection"];
                };
            };
        };
    };
    post_tenant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTenantRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    get_tenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tenant_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    patch_tenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tenant_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTenantRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    get_plugins: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginCollection"];
                };
            };
        };
    };
    import_errors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginImportErrorCollection"];
                };
            };
        };
    };
    get_pools: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: name, pool, id, slots, description, include_deferred */
                order_by?: ("name" | "-name" | "pool" | "-pool" | "id" | "-id" | "slots" | "-slots" | "description" | "-description" | "include_deferred" | "-include_deferred")[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                pool_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                pool_name_prefix_pattern?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolCollection"];
                };
            };
        };
    };
    post_pool: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PoolBody"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pool"];
                };
            };
        };
    };
    bulk_pools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkPoolsBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResponse"];
                };
            };
        };
    };
    get_pool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pool_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pool"];
                };
            };
        };
    };
    delete_pool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pool_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_pool: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: pool, slots, description, include_deferred, team_name, name */
                update_mask?: ("pool" | "slots" | "description" | "include_deferred" | "team_name" | "name" | "")[];
            };
            header?: never;
            path: {
                pool_name: string;
            };
            cookie?: never;
        };
        /** @description A field that is left out keeps its stored value. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PoolUpdate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pool"];
                };
            };
        };
    };
    get_providers: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderCollection"];
                };
            };
        };
    };
    get_service_accounts: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceAccountCollection"];
                };
            };
        };
    };
    post_service_account: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateServiceAccountRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedServiceAccount"];
                };
            };
        };
    };
    delete_service_account: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                service_account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotate_service_account: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                service_account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateServiceAccountRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedServiceAccount"];
                };
            };
        };
    };
    get_users: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserCollection"];
                };
            };
        };
    };
    post_user: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUserRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    delete_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateUserRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    delete_user_identities: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    post_value_for_compile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ValueForCompileBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValueForCompile"];
                };
            };
        };
    };
    get_variables: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: key, id, description, is_encrypted, value, _val, team_name */
                order_by?: ("key" | "-key" | "id" | "-id" | "description" | "-description" | "is_encrypted" | "-is_encrypted" | "value" | "-value" | "_val" | "-_val" | "team_name" | "-team_name")[];
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                variable_key_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                variable_key_prefix_pattern?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VariableCollection"];
                };
            };
        };
    };
    post_variable: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A field that is left out keeps its stored value; an empty string clears it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["VariableBody"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
        };
    };
    bulk_variables: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkVariablesBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResponse"];
                };
            };
        };
    };
    get_variable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                variable_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
        };
    };
    delete_variable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                variable_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_variable: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: key, value, description, is_encrypted, team_name */
                update_mask?: ("key" | "value" | "description" | "is_encrypted" | "team_name" | "")[];
            };
            header?: never;
            path: {
                variable_key: string;
            };
            cookie?: never;
        };
        /** @description A field that is left out keeps its stored value; an empty string clears it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["VariableUpdate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
        };
    };
    get_variable_with_slashes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                "*": string;
                variable_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
        };
    };
    delete_variable_with_slashes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                "*": string;
                variable_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patch_variable_with_slashes: {
        parameters: {
            query?: {
                /** @description Write only these of the fields sent; repeatable. One of: key, value, description, is_encrypted, team_name */
                update_mask?: ("key" | "value" | "description" | "is_encrypted" | "team_name" | "")[];
            };
            header?: never;
            path: {
                "*": string;
                variable_key: string;
            };
            cookie?: never;
        };
        /** @description A field that is left out keeps its stored value; an empty string clears it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["VariableUpdate"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
        };
    };
    get_version: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionInfo"];
                };
            };
        };
    };
    get_workers: {
        parameters: {
            query?: {
                /** @description `local`: the process of the subprocess executor; `warm`: a pod of a warm pool; `remote`: joined with a token */
                kind?: "local" | "warm" | "remote";
                /** @description How many entries at most */
                limit?: number;
                name?: string;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description A pool, or a queue that remote workers serve */
                pool?: string;
                /** @description `lost`: nothing was heard of it; `gone`: it has left. Both are shown for an hour */
                state?: "starting" | "idle" | "busy" | "draining" | "lost" | "gone";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerCollection"];
                };
            };
        };
    };
    get_worker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
        };
    };
    drain_worker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DrainWorkerBody"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"];
                };
            };
        };
    };
    get_worker_tokens: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerTokenCollection"];
                };
            };
        };
    };
    post_worker_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWorkerTokenBody"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedWorkerToken"];
                };
            };
        };
    };
    delete_worker_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                worker_token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_xcom: {
        parameters: {
            query?: {
                /** @description -1: not mapped */
                map_index?: number;
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
                key: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["XCom"];
                };
            };
        };
    };
    get_xcom_with_slashes: {
        parameters: {
            query?: {
                /** @description -1: not mapped */
                map_index?: number;
            };
            header?: never;
            path: {
                "*": string;
                dag_id: string;
                dag_run_id: string;
                key: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["XCom"];
                };
            };
        };
    };
    create_token_all_admins: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
        };
    };
    create_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenRequest"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
        };
    };
    create_token_cli: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenRequest"];
            };
        };
        responses: {
            /** @description Done */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenResponse"];
                };
            };
        };
    };
    login_all_admins: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the web UI */
            307: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Yes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Yes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    get_current_user_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description whether the editor at /ide is for the caller */
                        can_edit_workspace: boolean;
                        id: string;
                        roles: string[];
                        tenant: string;
                        username: string;
                    };
                };
            };
        };
    };
    get_auth_menus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        authorized_menu_items: string[];
                        extra_menu_items: {
                            href: string;
                            text: string;
                        }[];
                    };
                };
            };
        };
    };
    generate_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default api */
                    token_type?: "api" | "cli";
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        access_token: string;
                        expires_in_seconds: number;
                        token_type: string;
                    };
                };
            };
        };
    };
    list_backfills_ui: {
        parameters: {
            query?: {
                active?: boolean;
                dag_id?: string;
                limit?: number;
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, created_at, from_date, to_date, completed_at */
                order_by?: ("id" | "-id" | "created_at" | "-created_at" | "from_date" | "-from_date" | "to_date" | "-to_date" | "completed_at" | "-completed_at")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillCollectionUi"];
                };
            };
        };
    };
    get_calendar: {
        parameters: {
            query?: {
                granularity?: "hourly" | "daily";
                logical_date_gt?: string;
                logical_date_gte?: string;
                logical_date_lt?: string;
                logical_date_lte?: string;
                partition_date_gt?: string;
                partition_date_gte?: string;
                partition_date_lt?: string;
                partition_date_lte?: string;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dag_runs: unknown[];
                        total_entries: number;
                    };
                };
            };
        };
    };
    get_ui_config: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigResponse"];
                };
            };
        };
    };
    hook_meta_data: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionHookMeta"][];
                };
            };
        };
    };
    get_dags_ui: {
        parameters: {
            query?: {
                /** @description Part of the name or URI of an asset the schedule waits for */
                asset_dependency?: string;
                bundle_name?: string;
                bundle_version?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_display_name_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_display_name_prefix_pattern?: string;
                /** @description Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all */
                dag_id_pattern?: string;
                /** @description How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all */
                dag_id_prefix_pattern?: string;
                /** @description Only these */
                dag_ids?: string[];
                dag_run_end_date_gt?: string;
                dag_run_end_date_gte?: string;
                dag_run_end_date_lt?: string;
                dag_run_end_date_lte?: string;
                dag_run_start_date_gt?: string;
                dag_run_start_date_gte?: string;
                dag_run_start_date_lt?: string;
                dag_run_start_date_lte?: string;
                dag_run_state?: ("queued" | "running" | "success" | "failed")[];
                dag_runs_limit?: number;
                /** @description Airflow’s name for the same */
                exclude_stale?: boolean;
                has_asset_schedule?: boolean;
                has_import_errors?: boolean;
                has_pending_actions?: boolean;
                /** @description Of the caller */
                is_favorite?: boolean;
                /** @description Of the run that is newest by run_after */
                last_dag_run_state?: "queued" | "running" | "success" | "failed";
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Leave out stale DAGs */
                only_active?: boolean;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: dag_id, dag_display_name, next_dagrun, last_run_state, last_run_start_date, state, start_date */
                order_by?: ("dag_id" | "-dag_id" | "dag_display_name" | "-dag_display_name" | "next_dagrun" | "-next_dagrun" | "last_run_state" | "-last_run_state" | "last_run_start_date" | "-last_run_start_date" | "state" | "-state" | "start_date" | "-start_date")[];
                owners?: string[];
                paused?: boolean;
                tags?: string[];
                /** @description Default: any */
                tags_match_mode?: "any" | "all";
                timetable_type?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dags: ({
                            pending_actions: components["schemas"]["HitlDetail"][];
                        } & {
                            [key: string]: unknown;
                        })[];
                        total_entries: number;
                    };
                };
            };
        };
    };
    get_dag_run_deadlines: {
        parameters: {
            query?: {
                deadline_time_gt?: string;
                deadline_time_gte?: string;
                deadline_time_lt?: string;
                deadline_time_lte?: string;
                last_updated_at_gt?: string;
                last_updated_at_gte?: string;
                last_updated_at_lt?: string;
                last_updated_at_lte?: string;
                /** @description How many entries at most */
                limit?: number;
                missed?: boolean;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, deadline_time, created_at, last_updated_at, missed, dag_id, dag_run_id, alert_name */
                order_by?: ("id" | "-id" | "deadline_time" | "-deadline_time" | "created_at" | "-created_at" | "last_updated_at" | "-last_updated_at" | "missed" | "-missed" | "dag_id" | "-dag_id" | "dag_run_id" | "-dag_run_id" | "alert_name" | "-alert_name")[];
            };
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadlineCollection"];
                };
            };
        };
    };
    get_dag_run_stats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                dag_run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DagRunStats"];
                };
            };
        };
    };
    get_dag_deadline_alerts: {
        parameters: {
            query?: {
                /** @description How many entries at most */
                limit?: number;
                /** @description How many entries to leave out first */
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, created_at, name */
                order_by?: ("id" | "-id" | "created_at" | "-created_at" | "name" | "-name")[];
                /** @description Default: the newest */
                version_number?: number;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadlineAlertCollection"];
                };
            };
        };
    };
    get_latest_run_info: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    dag_stats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        active_dag_count: number;
                        failed_dag_count: number;
                        queued_dag_count: number;
                        running_dag_count: number;
                    };
                };
            };
        };
    };
    historical_metrics: {
        parameters: {
            query: {
                end_date?: string;
                start_date: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dag_run_counts_are_lower_bounds: boolean;
                        dag_run_states: {
                            [key: string]: number;
                        };
                        /** @description Of Airflow 3.2 */
                        state_count_limit: number;
                        task_instance_counts_are_lower_bounds: boolean;
                        task_instance_states: {
                            [key: string]: number;
                        };
                    };
                };
            };
        };
    };
    get_dependencies: {
        parameters: {
            query?: {
                dependency_type?: "scheduling" | "data";
                /** @description `dag:<id>` or `asset:<id>`: only what is connected with it */
                node_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        edges: unknown[];
                        nodes: unknown[];
                    };
                };
            };
        };
    };
    get_fleet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fleet"];
                };
            };
        };
    };
    get_gantt_data: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dag_id: string;
                        run_id: string;
                        task_instances: unknown[];
                    };
                };
            };
        };
    };
    get_grid_runs: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, state, dag_id, run_id, dag_run_id, logical_date, run_after, start_date, end_date, updated_at, conf, duration */
                order_by?: ("id" | "-id" | "state" | "-state" | "dag_id" | "-dag_id" | "run_id" | "-run_id" | "dag_run_id" | "-dag_run_id" | "logical_date" | "-logical_date" | "run_after" | "-run_after" | "start_date" | "-start_date" | "end_date" | "-end_date" | "updated_at" | "-updated_at" | "conf" | "-conf" | "duration" | "-duration")[];
                run_after_gt?: string;
                run_after_gte?: string;
                run_after_lt?: string;
                run_after_lte?: string;
                run_type?: string[];
                state?: string[];
                triggering_user?: string;
                triggering_user_prefix?: string;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown[];
                };
            };
        };
    };
    get_dag_structure: {
        parameters: {
            query?: {
                depth?: number;
                include_downstream?: boolean;
                include_upstream?: boolean;
                limit?: number;
                offset?: number;
                /** @description Sort keys, in order; a leading `-` sorts downward. One of: id, state, dag_id, run_id, dag_run_id, logical_date, run_after, start_date, end_date, updated_at, conf, duration */
                order_by?: ("id" | "-id" | "state" | "-state" | "dag_id" | "-dag_id" | "run_id" | "-run_id" | "dag_run_id" | "-dag_run_id" | "logical_date" | "-logical_date" | "run_after" | "-run_after" | "start_date" | "-start_date" | "end_date" | "-end_date" | "updated_at" | "-updated_at" | "conf" | "-conf" | "duration" | "-duration")[];
                root?: string;
                run_after_gt?: string;
                run_after_gte?: string;
                run_after_lt?: string;
                run_after_lte?: string;
                run_type?: string[];
                state?: string[];
                triggering_user?: string;
                triggering_user_prefix?: string;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown[];
                };
            };
        };
    };
    get_grid_ti_summaries_stream: {
        parameters: {
            query?: {
                run_ids?: string[];
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines of JSON, in the order asked for; a run without task instances has none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    next_run_assets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NextRunAssets"];
                };
            };
        };
    };
    get_partitioned_dag_runs: {
        parameters: {
            query?: {
                dag_id?: string;
                has_created_dag_run_id?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        asset_expressions: {
                            [key: string]: {
                                [key: string]: unknown;
                            } | null;
                        } | null;
                        partitioned_dag_runs: {
                            created_at: string | null;
                            created_dag_run_id: string | null;
                            dag_id: string | null;
                            id: number;
                            partition_key: string;
                            state: string | null;
                            total_received: number;
                            total_required: number;
                        }[];
                        total: number;
                    };
                };
            };
        };
    };
    get_pending_partitioned_dag_run: {
        parameters: {
            query: {
                partition_key: string;
            };
            header?: never;
            path: {
                dag_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        asset_expression: {
                            [key: string]: unknown;
                        } | null;
                        assets: {
                            asset_id: number;
                            asset_inactive: boolean;
                            asset_name: string;
                            asset_uri: string;
                            is_rollup: boolean;
                            mapper_error: boolean;
                            received: boolean;
                            received_count: number;
                            received_keys: string[];
                            required_count: number;
                            required_keys: string[];
                        }[];
                        created_at: string | null;
                        created_dag_run_id: string | null;
                        dag_id: string;
                        id: number;
                        partition_key: string;
                        total_received: number;
                        total_required: number;
                        updated_at: string | null;
                    };
                };
            };
        };
    };
    get_pending_partitioned_dag_run_by_path: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dag_id: string;
                partition_key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        asset_expression: {
                            [key: string]: unknown;
                        } | null;
                        assets: {
                            asset_id: number;
                            asset_inactive: boolean;
                            asset_name: string;
                            asset_uri: string;
                            is_rollup: boolean;
                            mapper_error: boolean;
                            received: boolean;
                            received_count: number;
                            received_keys: string[];
                            required_count: number;
                            required_keys: string[];
                        }[];
                        created_at: string | null;
                        created_dag_run_id: string | null;
                        dag_id: string;
                        id: number;
                        partition_key: string;
                        total_received: number;
                        total_required: number;
                        updated_at: string | null;
                    };
                };
            };
        };
    };
    structure_data: {
        parameters: {
            query: {
                dag_id: string;
                depth?: number;
                external_dependencies?: boolean;
                include_downstream?: boolean;
                include_upstream?: boolean;
                root?: string;
                version_number?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        edges: unknown[];
                        nodes: unknown[];
                    };
                };
            };
        };
    };
    list_teams: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                order_by?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        teams: unknown[];
                        total_entries: number;
                    };
                };
            };
        };
    };
}
