import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.MMapDirectory;

/** Lucene as a contender of the text benchmark: the same arguments and orders as the one in Rust. */
final class Rival {
  private static final int TOP = 10;
  private static final int COUNTED = 10_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final IndexSearcher searcher;

  private Rival(IndexSearcher searcher) {
    this.searcher = searcher;
  }

  public static void main(String[] arguments) throws IOException {
    int segments = Integer.parseInt(arguments[2]);
    long before = THREADS.getCurrentThreadCpuTime();
    IndexSearcher searcher = build(Path.of(arguments[0]), segments, Path.of(arguments[3]));
    System.out.println("built " + (THREADS.getCurrentThreadCpuTime() - before));
    Map<String, List<String>> queries = new HashMap<>();
    for (String line : Files.readAllLines(Path.of(arguments[1]))) {
      String[] parts = line.split("\t", 2);
      queries.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(parts[1]);
    }
    Rival rival = new Rival(searcher);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      String[] words = line.split(" ");
      System.out.println(rival.answer(queries, words[0], words[1], words[2]));
      System.out.flush();
    }
  }

  private static IndexSearcher build(Path docs, int segments, Path folder) throws IOException {
    List<String> lines = Files.readAllLines(docs);
    int size = (lines.size() + segments - 1) / segments;
    MMapDirectory directory = new MMapDirectory(folder);
    IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
    config.setMergePolicy(NoMergePolicy.INSTANCE).setRAMBufferSizeMB(1900);
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (int number = 0; number < lines.size(); number++) {
        Document doc = new Document();
        doc.add(new TextField("body", lines.get(number), Field.Store.NO));
        if (number % 2 == 1) {
          doc.add(new StringField("group", "half", Field.Store.NO));
        }
        if (number % 10 == 3) {
          doc.add(new StringField("group", "tenth", Field.Store.NO));
        }
        writer.addDocument(doc);
        if ((number + 1) % size == 0) {
          writer.flush();
        }
      }
    }
    DirectoryReader reader = DirectoryReader.open(directory);
    if (reader.leaves().size() != segments) {
      throw new IllegalStateException(reader.leaves().size() + " segments were made");
    }
    IndexSearcher searcher = new IndexSearcher(reader);
    searcher.setSimilarity(new BM25Similarity(1.2f, 0.75f));
    // Queries come again and again here, so a cache of results would be all that is measured.
    searcher.setQueryCache(null);
    return searcher;
  }

  private String answer(
      Map<String, List<String>> queries, String order, String mode, String name)
      throws IOException {
    int plus = name.indexOf('+');
    String plain = plus < 0 ? name : name.substring(0, plus);
    String filter = plus < 0 ? null : name.substring(plus + 1);
    StringJoiner out = new StringJoiner(" ");
    for (String text : queries.get(plain)) {
      Query query = query(plain.replaceAll("[0-9]+$", ""), text, filter);
      int threshold = mode.equals("count") ? COUNTED : 1;
      long before = THREADS.getCurrentThreadCpuTime();
      TopDocs found =
          searcher.search(query, new TopScoreDocCollectorManager(TOP, null, threshold));
      long spent = THREADS.getCurrentThreadCpuTime() - before;
      if (order.equals("time")) {
        out.add(Long.toString(spent));
      } else {
        StringJoiner scores = new StringJoiner(",");
        for (ScoreDoc hit : found.scoreDocs) {
          scores.add(Float.toString(hit.score));
        }
        out.add(found.totalHits.value() + ":" + scores);
      }
    }
    return out.toString();
  }

  private static Query query(String shape, String text, String filter) {
    Query query = plain(shape, text);
    if (filter == null) {
      return query;
    }
    return new BooleanQuery.Builder()
        .add(query, Occur.MUST)
        .add(new TermQuery(new Term("group", filter)), Occur.FILTER)
        .build();
  }

  private static Query plain(String shape, String text) {
    String[] words = text.split(" ");
    switch (shape) {
      case "phrase":
        return new PhraseQuery("body", words);
      case "prefix":
        return new PrefixQuery(new Term("body", text));
      case "fuzzy":
        return new FuzzyQuery(new Term("body", text), 1);
      default:
        if (words.length == 1) {
          return new TermQuery(new Term("body", text));
        }
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        for (String word : words) {
          all.add(new TermQuery(new Term("body", word)), shape.equals("and") ? Occur.MUST : Occur.SHOULD);
        }
        return all.build();
    }
  }
}
