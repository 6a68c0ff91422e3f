<?php
// Replaces WordPress's database with an empty one: every query finds nothing.
class wpdb_without_database extends wpdb
{
    public $ready = true;

    public function __construct() {}

    public function db_connect($allow_bail = true) { return true; }

    public function query($query)
    {
        $this->last_result = [];
        return $this->num_rows = 0;
    }

    public function _real_escape($data) { return addslashes($data); }

    public function db_version() { return '8.0'; }

    public function db_server_info() { return '8.0'; }

    public function get_col_charset($table, $column) { return false; }

    public function suppress_errors($suppress = true) { return true; }
}

$GLOBALS['wpdb'] = new wpdb_without_database();
