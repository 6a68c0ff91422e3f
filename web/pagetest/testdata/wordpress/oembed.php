<?php
// Prints what WordPress makes of the addresses that an author pastes, one JSON text a line: oembed.php WORDPRESS SITE ADDRESS...
// It loads WordPress without a database, so that all options have their defaults.
ini_set("display_errors", "0");
[, $wordpress, $site] = $argv;
define('ABSPATH', "$wordpress/");
define('WP_CONTENT_DIR', __DIR__ . '/content'); // has db.php
define('WP_INSTALLING', true);                   // no installed site is expected
define('WP_HOME', 'https://blog.example.org');
define('WP_SITEURL', WP_HOME);
foreach (['DB_NAME', 'DB_USER', 'DB_PASSWORD', 'DB_HOST'] as $name) define($name, '');
$table_prefix = 'wp_';
$_SERVER += ['HTTP_HOST' => 'blog.example.org', 'REQUEST_URI' => '/', 'REQUEST_METHOD' => 'GET', 'SERVER_PROTOCOL' => 'HTTP/1.1'];
require ABSPATH . 'wp-settings.php';
// WordPress asks no private addresses, and only some ports; the server of the test has one of its own.
add_filter('http_request_host_is_external', '__return_true');
add_filter('http_allowed_safe_ports', fn ($ports, $host, $url) => [...$ports, parse_url($url, PHP_URL_PORT)], 10, 3);
foreach (array_slice($argv, 3) as $address) {
    $discovered = wp_oembed_get($address, ['width' => 500]);
    wp_oembed_add_provider("$site/*", "$site/oembed");
    $provided = wp_oembed_get($address, ['width' => 500]);
    wp_oembed_remove_provider("$site/*");
    echo json_encode(['discovered' => $discovered, 'provided' => $provided]), "\n";
}
