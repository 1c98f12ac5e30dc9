// What programs do with OpenSearch's two clients for Java, both of which read answers into types: documents, searches, and all that
// operators look at. Prints what each step saw, or why it stopped.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hc.core5.http.HttpHost;
import org.opensearch.action.admin.cluster.health.ClusterHealthRequest;
import org.opensearch.action.admin.indices.delete.DeleteIndexRequest;
import org.opensearch.action.admin.indices.refresh.RefreshRequest;
import org.opensearch.action.delete.DeleteRequest;
import org.opensearch.action.get.MultiGetRequest;
import org.opensearch.action.search.ClearScrollRequest;
import org.opensearch.action.search.SearchScrollRequest;
import org.opensearch.client.RequestOptions;
import org.opensearch.client.RestClient;
import org.opensearch.client.RestHighLevelClient;
import org.opensearch.client.indices.CreateIndexRequest;
import org.opensearch.client.json.JsonData;
import org.opensearch.client.json.jackson.JacksonJsonpMapper;
import org.opensearch.client.opensearch.OpenSearchClient;
import org.opensearch.client.opensearch._types.FieldValue;
import org.opensearch.client.opensearch._types.OpenSearchException;
import org.opensearch.client.opensearch._types.Refresh;
import org.opensearch.client.opensearch._types.SortOrder;
import org.opensearch.client.opensearch.core.bulk.BulkOperation;
import org.opensearch.client.transport.httpclient5.ApacheHttpClient5TransportBuilder;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.index.query.QueryBuilders;
import org.opensearch.index.reindex.DeleteByQueryRequest;
import org.opensearch.search.aggregations.AggregationBuilders;
import org.opensearch.search.aggregations.bucket.terms.Terms;
import org.opensearch.search.builder.SearchSourceBuilder;

public final class Session {
    private static final int ROWS = 50;
    private static final Map<String, Object> SEEN = new LinkedHashMap<>();
    private static String prefix;

    private interface Step {
        Object run() throws Exception;
    }

    private static void step(String name, Step step) {
        try {
            SEEN.put(prefix + name, step.run());
        } catch (Exception error) {
            SEEN.put(prefix + name, error.getClass().getSimpleName() + ": " + error.getMessage());
        }
    }

    public static void main(String[] arguments) throws Exception {
        URI uri = URI.create(arguments[0]);
        prefix = "java.";
        var transport = ApacheHttpClient5TransportBuilder.builder(new HttpHost("http", uri.getHost(), uri.getPort()))
            .setMapper(new JacksonJsonpMapper()).build();
        var client = new OpenSearchClient(transport);
        documents(client, "typed");
        indices(client, "typed");
        cluster(client, "typed");
        transport.close();
        prefix = "high.";
        var builder = RestClient.builder(new org.apache.http.HttpHost(uri.getHost(), uri.getPort(), "http"));
        try (var high = new RestHighLevelClient(builder)) {
            highLevel(high, "high");
        }
        System.out.println(new ObjectMapper().writeValueAsString(SEEN));
    }

    private static void documents(OpenSearchClient client, String index) {
        step("version", () -> client.info().version().number());
        step("create", () -> client.indices().create(c -> c.index(index).settings(s -> s.numberOfShards("1")).mappings(m -> m
            .properties("n", p -> p.integer(i -> i)).properties("k", p -> p.keyword(k -> k))
            .properties("t", p -> p.text(t -> t)).properties("v", p -> p.knnVector(v -> v.dimension(2))))).acknowledged());
        step("bulk", () -> {
            List<BulkOperation> all = new ArrayList<>();
            for (int row = 0; row < ROWS; row++) {
                String id = "" + row;
                Object number = row == 7 ? "bad" : row;
                Map<String, Object> source = Map.of("n", number, "k", "k" + row % 3, "t", "hello " + row, "v", List.of(row, 1));
                all.add(BulkOperation.of(b -> b.index(i -> i.index(index).id(id).document(source))));
            }
            var reply = client.bulk(b -> b.operations(all).refresh(Refresh.True));
            return reply.items().stream().filter(item -> item.error() != null).map(item -> item.error().type()).toList();
        });
        step("search", () -> {
            var reply = client.search(s -> s.index(index).size(2).query(q -> q.match(m -> m.field("t").query(FieldValue.of("hello"))))
                .aggregations("by", a -> a.terms(t -> t.field("k")).aggregations("mean", b -> b.avg(v -> v.field("n"))))
                .sort(o -> o.field(f -> f.field("n").order(SortOrder.Desc))).highlight(h -> h.fields("t", f -> f)), Map.class);
            int groups = reply.aggregations().get("by").sterms().buckets().array().size();
            return List.of(reply.hits().total().value(), groups, reply.hits().hits().get(0).source().get("n"));
        });
        step("profiled", () -> client.search(s -> s.index(index).profile(true).query(q -> q.match(m -> m.field("t").query(FieldValue.of("hello"))))
            .aggregations("by", a -> a.terms(t -> t.field("k"))), Map.class).profile().shards().size());
        step("neighbours", () -> client.search(s -> s.index(index).query(q -> q.knn(k -> k.field("v").vector(new float[] {1, 1}).k(3))),
            Map.class).hits().hits().size());
        step("absent", () -> client.get(g -> g.index(index).id("absent"), Map.class).found());
        step("no_index", () -> {
            try {
                return client.search(s -> s.index("absent"), Map.class).took();
            } catch (OpenSearchException error) {
                return List.of(error.status(), error.error().type());
            }
        });
        step("updated", () -> client.updateByQuery(u -> u.index(index).refresh(true)
            .script(s -> s.inline(i -> i.source("ctx._source.n += 1"))).query(q -> q.term(t -> t.field("k").value(FieldValue.of("k2"))))).updated());
        step("copied", () -> client.reindex(r -> r.source(s -> s.index(index)).dest(d -> d.index(index + "-copy")).refresh(true)).total());
        step("scrolled", () -> {
            var page = client.search(s -> s.index(index).size(10).scroll(t -> t.time("1m")), Map.class);
            var next = client.scroll(s -> s.scrollId(page.scrollId()).scroll(t -> t.time("1m")), Map.class);
            client.clearScroll(s -> s.scrollId(page.scrollId()));
            return next.hits().hits().size();
        });
        step("several", () -> client.msearch(m -> m.searches(s -> s.header(h -> h.index(index)).body(b -> b.query(q -> q.matchAll(a -> a)))),
            Map.class).responses().size());
        step("by_ids", () -> client.mget(m -> m.index(index).ids("1", "absent"), Map.class).docs().size());
        step("terms", () -> client.termvectors(t -> t.index(index).id("1").fields("t")).termVectors().size());
        step("explained", () -> client.explain(e -> e.index(index).id("1").query(q -> q.matchAll(m -> m)), Map.class).matched());
        step("fields", () -> client.fieldCaps(f -> f.index(index).fields("k")).fields().get("k").containsKey("keyword"));
    }

    private static void indices(OpenSearchClient client, String index) {
        var indices = client.indices();
        step("stats", () -> indices.stats(s -> s.index(index)).indices().size());
        step("index", () -> indices.get(g -> g.index(index)).result().size());
        step("mapping", () -> indices.getMapping(g -> g.index(index)).result().size());
        step("settings", () -> indices.getSettings(g -> g.index(index)).result().size());
        step("segments", () -> indices.segments(s -> s.index(index)).indices().size());
        step("recovery", () -> indices.recovery(r -> r.index(index)).result().size());
        step("resolved", () -> indices.resolveIndex(r -> r.name(index)).indices().size());
        step("valid", () -> indices.validateQuery(v -> v.index(index).explain(true).query(q -> q.matchAll(m -> m))).valid());
        step("tokens", () -> indices.analyze(a -> a.analyzer("english").text("running")).tokens().size());
        step("token_detail", () -> indices.analyze(a -> a.analyzer("english").text("running").explain(true)).detail().analyzer().name());
        step("alias", () -> {
            indices.putAlias(p -> p.index(index).name("typed-alias"));
            return indices.getAlias(g -> g.index(index)).result().get(index).aliases().keySet();
        });
        step("template", () -> {
            indices.putIndexTemplate(p -> p.name("typed-template").indexPatterns("typed-t-*").template(t -> t.settings(s -> s.numberOfShards("1"))));
            int found = indices.getIndexTemplate(g -> g.name("typed-template")).indexTemplates().size();
            indices.deleteIndexTemplate(d -> d.name("typed-template"));
            return found;
        });
        step("shards", () -> client.searchShards(s -> s.index(index)).shards().size());
    }

    private static void cluster(OpenSearchClient client, String index) {
        step("health", () -> client.cluster().health().status().jsonValue());
        step("cluster_stats", () -> client.cluster().stats().status().jsonValue());
        step("cluster_settings", () -> client.cluster().getSettings(g -> g.includeDefaults(true)).defaults().isEmpty());
        step("allocation", () -> client.cluster().allocationExplain(a -> a.index(index).shard(0).primary(true)).currentState());
        step("pending", () -> client.cluster().pendingTasks().tasks().size());
        step("nodes", () -> client.nodes().info().nodes().size());
        step("node_stats", () -> client.nodes().stats().nodes().size());
        step("tasks", () -> client.tasks().list(t -> t).nodes().size());
        step("tables", () -> {
            var cat = client.cat();
            return List.of(cat.nodes().valueBody().size(), cat.health().valueBody().size(), cat.allocation().valueBody().size(),
                cat.indices(i -> i.index(index)).valueBody().size(), cat.shards(s -> s.index(index)).valueBody().size(),
                cat.recovery(r -> r.index(index)).valueBody().size(), cat.tasks().valueBody().size());
        });
        step("pipeline", () -> {
            client.ingest().putPipeline(p -> p.id("typed").processors(s -> s.set(f -> f.field("a").value(JsonData.of(1)))));
            int made = client.ingest().simulate(s -> s.id("typed").docs(d -> d.source(JsonData.of(Map.of("b", 1))))).docs().size();
            return List.of(client.ingest().getPipeline(g -> g.id("typed")).result().size(), made);
        });
        step("snapshot", () -> {
            var snapshot = client.snapshot();
            snapshot.createRepository(c -> c.name("typed").type("fs").settings(s -> s.location("typed")));
            snapshot.create(c -> c.repository("typed").snapshot("one").indices(index).waitForCompletion(true));
            int found = snapshot.get(g -> g.repository("typed").snapshot("one")).snapshots().size();
            int told = snapshot.status(s -> s.repository("typed").snapshot("one")).snapshots().size();
            snapshot.delete(d -> d.repository("typed").snapshot("one"));
            return List.of(found, told);
        });
    }

    private static void highLevel(RestHighLevelClient client, String index) {
        var usual = RequestOptions.DEFAULT;
        step("version", () -> client.info(usual).getVersion().getNumber());
        step("create", () -> client.indices().create(new CreateIndexRequest(index), usual).isAcknowledged());
        step("bulk", () -> {
            var bulk = new org.opensearch.action.bulk.BulkRequest();
            for (int row = 0; row < ROWS; row++) {
                bulk.add(new org.opensearch.action.index.IndexRequest(index).id("" + row).source(Map.of("n", row, "k", "k" + row % 3)));
            }
            return client.bulk(bulk, usual).hasFailures();
        });
        step("refreshed", () -> client.indices().refresh(new RefreshRequest(index), usual).getFailedShards());
        step("search", () -> {
            var asked = new SearchSourceBuilder().query(QueryBuilders.rangeQuery("n").gte(10)).size(5)
                .aggregation(AggregationBuilders.terms("by").field("k.keyword"));
            var reply = client.search(new org.opensearch.action.search.SearchRequest(index).source(asked), usual);
            Terms by = reply.getAggregations().get("by");
            return List.of(reply.getHits().getTotalHits().value, by.getBuckets().size());
        });
        step("scrolled", () -> {
            var first = new org.opensearch.action.search.SearchRequest(index).source(new SearchSourceBuilder().size(20));
            var page = client.search(first.scroll(TimeValue.timeValueMinutes(1)), usual);
            var next = client.scroll(new SearchScrollRequest(page.getScrollId()).scroll(TimeValue.timeValueMinutes(1)), usual);
            var clear = new ClearScrollRequest();
            clear.addScrollId(page.getScrollId());
            client.clearScroll(clear, usual);
            return next.getHits().getHits().length;
        });
        step("created", () -> client.index(new org.opensearch.action.index.IndexRequest(index).id("made").create(true)
            .source(Map.of("n", 1)), usual).getResult().getLowercase());
        step("upserted", () -> client.update(new org.opensearch.action.update.UpdateRequest(index, "upserted").doc(Map.of("n", 1))
            .docAsUpsert(true), usual).getResult().getLowercase());
        step("by_ids", () -> client.mget(new MultiGetRequest().add(index, "1").add(index, "absent"), usual).getResponses().length);
        step("deleted", () -> client.delete(new DeleteRequest(index, "made"), usual).getResult().getLowercase());
        step("deleted_by_query", () -> client.deleteByQuery(new DeleteByQueryRequest(index).setQuery(QueryBuilders.termQuery("n", 3))
            .setRefresh(true), usual).getDeleted());
        step("health", () -> client.cluster().health(new ClusterHealthRequest(index), usual).getNumberOfNodes());
        step("absent", () -> {
            try {
                return client.search(new org.opensearch.action.search.SearchRequest("absent"), usual).getTook().toString();
            } catch (org.opensearch.OpenSearchStatusException error) {
                return error.status().getStatus();
            }
        });
        step("dropped", () -> client.indices().delete(new DeleteIndexRequest(index), usual).isAcknowledged());
    }
}
