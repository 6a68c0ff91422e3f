// Reads a feed from the input with rss-parser, and prints what it understands.
import Parser from "rss-parser";
import { text } from "node:stream/consumers";

const feed = await new Parser().parseString(await text(process.stdin));
console.log(JSON.stringify({ title: feed.title, entries: feed.items.map((i) => ({ id: i.id, title: i.title, date: i.isoDate, link: i.link, summary: i.summary })) }));
