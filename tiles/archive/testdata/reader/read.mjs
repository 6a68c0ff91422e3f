// Reads a PMTiles archive with the pmtiles package: node read.mjs FILE, with one z/x/y in each line of its input.
// Answers with one JSON document: header, metadata, and for each tile asked for the SHA-256 of its bytes, or null
// where the archive has none.
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { PMTiles } from "pmtiles";

const [path] = process.argv.slice(2);
const file = await open(path);
const archive = new PMTiles({
  getKey: () => path,
  async getBytes(offset, length) {
    const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset);
    return { data: buffer.buffer.slice(0, bytesRead) };
  },
});
const tiles = {};
for await (const line of createInterface({ input: process.stdin })) {
  const tile = await archive.getZxy(...line.split("/").map(Number));
  tiles[line] = tile ? createHash("sha256").update(new Uint8Array(tile.data)).digest("hex") : null;
}
const answer = { header: await archive.getHeader(), metadata: await archive.getMetadata(), tiles };
process.stdout.write(JSON.stringify(answer));
await file.close();
