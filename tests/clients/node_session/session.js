// What programs for Node.js log with, and the bulk helpers of the clients below it: each writes its events to the address that is
// given, and says what it was told of them.
"use strict";

const { once } = require("events");

const EVENTS = 50;

async function pino(node) {
  const stream = require("pino-elasticsearch")({ index: "pino", node, esVersion: 8, flushBytes: 1000 });
  const told = [];
  stream.on("insertError", () => told.push("insertError"));
  const ended = Promise.race([once(stream, "insert"), once(stream, "error")]);
  const logger = require("pino")(stream);
  for (let number = 0; number < EVENTS; number++) logger.info({ number }, "an event");
  stream.end();
  const [last] = await ended;
  return [last.successful ?? last.message, ...told];
}

async function winston(node) {
  const { ElasticsearchTransport } = require("winston-elasticsearch");
  // Events are flushed by hand below; the interval is what a client waits until it asks whether the server is there.
  const transport = new ElasticsearchTransport({ index: "winston", clientOpts: { node }, flushInterval: 100 });
  const told = [];
  transport.on("warning", (error) => told.push(error.message));
  const logger = require("winston").createLogger({ transports: [transport] });
  for (let number = 0; number < EVENTS; number++) logger.info("an event", { number });
  while (transport.bulkWriter.bulk.length > 0 && told.length === 0) await transport.flush();
  await transport.flush();
  logger.end();
  return told;
}

async function bulk(node, name, package_) {
  const client = new (require(package_).Client)({ node, compression: name === "7" ? "gzip" : true });
  const documents = Array.from({ length: EVENTS }, (_, number) => ({ number, message: "an event" }));
  const onDocument = () => ({ index: { _index: `bulk-${name}` } });
  const done = await client.helpers.bulk({ datasource: documents, onDocument, refreshOnCompletion: true });
  return [done.successful, done.failed];
}

async function main(node) {
  const seen = { pino: await pino(node), winston: await winston(node) };
  for (const [name, package_] of [
    ["7", "elasticsearch-7"], ["8", "@elastic/elasticsearch"], ["9", "elasticsearch-9"], ["opensearch", "@opensearch-project/opensearch"],
  ]) seen[name] = await bulk(node, name, package_);
  console.log(JSON.stringify(seen));
  process.exit(0);
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
