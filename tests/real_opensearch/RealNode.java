import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.KeyStoreWrapper;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;

/**
 * One node from a home folder (lib, modules, plugins) and a folder of configuration, without the security manager,
 * which newer Javas no longer have. Says where it listens as Clew does, and stops at SIGTERM.
 */
public class RealNode {
    static class PublicNode extends Node {
        PublicNode(Environment environment) {
            super(environment, Collections.emptyList(), true);
        }
    }

    public static void main(String[] arguments) throws Exception {
        // The server's logging takes standard output for itself.
        PrintStream out = System.out;
        Path home = Paths.get(arguments[0]);
        Path config = Paths.get(arguments[1]);
        Settings settings = Settings.builder().put("path.home", home.toString()).build();
        Environment environment = InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), config, () -> "real");
        LogConfigurator.registerErrorListener();
        LogConfigurator.configure(environment);
        if (!Files.exists(config.resolve("opensearch.keystore"))) {
            try (KeyStoreWrapper keystore = KeyStoreWrapper.create()) {
                keystore.save(config, new char[0]);
            }
        }
        PublicNode node = new PublicNode(environment);
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (Exception e) {
                e.printStackTrace();
            }
            stopped.countDown();
        }));
        node.start();
        InetSocketAddress http = node.injector().getInstance(HttpServerTransport.class)
            .boundAddress().publishAddress().address();
        out.println("{\"listening\":{\"http\":\"127.0.0.1:" + http.getPort() + "\"}}");
        stopped.await();
    }
}
